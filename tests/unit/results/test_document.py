# SPDX-License-Identifier: GPL-2.0
"""Results: made of raw output, noted upon, written, read, compared and shown."""

from __future__ import annotations

import copy
import io
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.machine.job import Job, Raw
from kloc.measure import policy, record, workload
from kloc.measure.workload import Outcome
from kloc.results import document, table

VMSTAT = (
    "numa_hint_faults {}\npgpromote_success {}\npgsteal_kswapd {}\npgdemote_kswapd {}\n"
    "pgsteal_khugepaged {}\npgdemote_khugepaged {}\n"
)
MODEL: dict[str, Any] = {
    "time_ns": 2_000_000_000,
    "monotonic_ns": 2_000_000_100,
    "idle_ns": 5,
    "storage_wait_ns": 4,
    "instructions": {"user": 10, "kernel": 20},
    "stall_ns": {"fast": {"anon": {"user": 1, "kernel": 2}}, "slow": {}},
    "misses": {"fast": {}, "slow": {}},
    "background": {"kswapd0": {"instructions": 7, "stall_ns": 3}},
    "background_excess_ns": 0,
    "traffic_bytes": {"fast": {"read": 64}},
    "pages": {"fast": {"free": 9}},
    "migrated": {"promoted": {"anon": 0}, "demoted": {"file": 4}},
    "moved": {"promoted": {}, "demoted": {"demotion": 4}},
    "series": {"t_ns": [1, 2], "pages": {"fast": {"anon": [10, 21]}, "slow": {"anon": [4, 4]}}},
}


def run(
    name: str = "tpp",
    model: dict[str, Any] | None = None,
    console: str = "",
    evicted: int = 0,
    log: str | None = None,
) -> record.Run:
    job = Job("w", profile.load("tiered"), {}, seed=3)
    frames = {
        "vmstat_begin": VMSTAT.format(1, 1, 1, 1, 1, 1),
        "vmstat_end": VMSTAT.format(11, 1, 5 + evicted, 5, 3, 3),
    }
    if log is not None:
        frames["kernel"] = log
    raw = Raw(frames, MODEL if model is None else model, None, console)
    return record.from_raw(job, policy.load(name), Outcome(100, {"p50": 1.0}), raw)


def test_what_a_run_s_raw_output_says() -> None:
    made = run()
    assert made["throughput"] == 50
    assert made["hint_faults"] == 10
    assert made["clock_error"] == pytest.approx(5e-8)
    assert made["pages"] == {"fast": {"anon": 16}, "slow": {"anon": 4}}
    assert made["series"]["pages_fast"] == {"anon": [10, 21]}
    assert made["machine"]["name"] == "tiered"
    assert (made["seed"], made["cores"], made["computed"]) == (3, 1, False)


def test_a_policy_that_did_nothing_is_noted() -> None:
    idle = copy.deepcopy(MODEL)
    idle["migrated"] = {"promoted": {}, "demoted": {}}
    assert run(model=idle)["notes"] == [
        "tpp did nothing here: no page was promoted and no page was demoted"
    ]
    assert run()["notes"] == ["no page was promoted"]
    assert run("stock")["notes"] == []


def test_evictions_warnings_and_a_wrong_clock_are_noted() -> None:
    assert run("stock", evicted=3)["notes"] == ["3 pages were evicted to storage"]
    warned = run("stock", console="[1.0] WARNING: CPU: 0 PID: 1\n")
    assert warned["notes"] == ["the guest's kernel printed 1 warnings"]
    # What is in the log is counted once, whether it is on the console or not.
    logged = "[1.0] WARNING: CPU: 0 PID: 1\n[2.0] WARNING: possible circular locking\n"
    warned = run("stock", console="[1.0] WARNING: CPU: 0 PID: 1\n", log=logged)
    assert warned["notes"] == ["the guest's kernel printed 2 warnings"]
    wrong = copy.deepcopy(MODEL)
    wrong["monotonic_ns"] *= 2
    assert run("stock", model=wrong)["notes"] == [
        "the guest's clock is 100.0 % off the model's time"
    ]


def content(*runs: record.Run) -> dict[str, Any]:
    return {
        "schema": 1,
        "kernel": {"release": "6.12.1", "series": "a"},
        "versions": {"qemu": "10", "guest": {"libc6": "1"}},
        "machine": {"name": "tiered"},
        "runs": list(runs),
    }


def test_a_result_is_written_whole_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    document.write(path, content(run()))
    assert document.read(path) == content(run())
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 1, "runs": []}', "[1]"])
def test_another_file_is_no_result(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(KlocError, match="is no result of kloc"):
        document.read(path)


def test_a_result_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "later.json"
    path.write_text(json.dumps({**content(run()), "schema": 2}))
    with pytest.raises(KlocError, match="has schema 2"):
        document.read(path)


def test_differences_name_what_figures_depend_on() -> None:
    other = copy.deepcopy(content(run()))
    other["versions"]["guest"]["libc6"] = "2"
    other["kernel"]["series"] = "b"
    assert document.differences(content(run()), content(run())) == []
    assert document.differences(content(run()), other) == [
        "kernel.series: a against b",
        "versions.guest.libc6: 1 against 2",
    ]


def shown(*runs: record.Run) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table.comparison(runs))
    return console.export_text()


def fake(name: str, seed: int, throughput: float) -> record.Run:
    return {**run("stock"), "policy": name, "seed": seed, "throughput": throughput}


def test_the_table_shows_medians_and_ranges_against_both_bounds() -> None:
    bounds = [fake("all-slow", seed, 100) for seed in (1, 2, 3)]
    bounds += [fake("all-fast", seed, 200) for seed in (1, 2, 3)]
    text = shown(*bounds, fake("tpp", 1, 120), fake("tpp", 2, 150), fake("tpp", 3, 130))
    (row,) = [line for line in text.splitlines() if "tpp" in line]
    assert re.split(r"  +", row.strip()) == [
        "tpp",
        "130",
        "1.30 (1.20 to 1.50)",
        "65 % (60 % to 75 %)",
    ]


def test_each_variant_is_measured_against_its_own_bounds() -> None:
    runs = []
    for variant, lower in (("", 100), ("fast x 2", 50)):
        for name, throughput in (("all-slow", lower), ("tpp", 150)):
            one = fake(name, 1, throughput)
            runs.append({**one, "machine": {**one["machine"], "variant": variant}})
    console = Console(width=100, record=True, file=io.StringIO())
    for each in table.comparisons(runs, 100):
        console.print(each)
    text = console.export_text()
    assert "machine tiered, fast x 2: 192 MiB fast" in text
    cells = [re.split(r"  +", line.strip()) for line in text.splitlines() if line.strip()]
    assert [row for row in cells if row[0] == "tpp"] == [
        ["tpp", "150", "1.50"],
        ["tpp", "150", "3.00"],
    ]
    assert cells[-2:] == [["as it is", "1.50"], ["fast x 2", "3.00"]]
    assert len(table.comparisons(runs[:2], 100)) == 2


@pytest.mark.parametrize(
    ("seeds", "width", "together"),
    [
        (1, 80, [["redis", "rocksdb"], ["liblinear"]]),
        (1, 200, [["redis", "rocksdb", "liblinear"]]),
        (3, 80, [["redis"], ["rocksdb"], ["liblinear"]]),
        (1, 20, [["redis"], ["rocksdb"], ["liblinear"]]),
    ],
)
def test_workloads_that_have_no_room_get_a_table_of_their_own(
    seeds: int, width: int, together: list[list[str]]
) -> None:
    names = [name for table in together for name in table]
    runs: list[record.Run] = [
        {**fake(policy, seed, throughput), "workload": name}
        for name in names
        for policy, throughput in (("all-slow", 50_000), ("tpp", 60_000), ("all-fast", 80_000))
        for seed in range(1, seeds + 1)
    ]
    _, *tables = table.comparisons(runs, width)
    heads = [
        [str(column.header) for column in each.columns]
        for each in tables
        if isinstance(each, Table)
    ]
    assert [[name for name in names if f"{name}\nops/s" in head] for head in heads] == together


def test_a_note_says_of_which_variant_it_is() -> None:
    noted = {**fake("tpp", 1, 1), "notes": ["odd"]}
    noted["machine"] = {**noted["machine"], "variant": "fast x 2"}
    assert table.remarks([noted]) == ["w/tpp (fast x 2): odd"]


def test_results_of_other_variants_differ() -> None:
    one = run()
    other = {**one, "machine": {**one["machine"], "variant": "fast x 2"}}
    assert document.differences(content(one), content(one, other)) == [
        "variants: as it is against as it is; fast x 2"
    ]


def test_a_table_says_what_size_it_is_of() -> None:
    quick: record.Run = {**fake("tpp", 1, 1), "size": asdict(workload.QUICK)}
    (title, _) = table.comparisons([quick], 100)
    assert str(title).endswith("1 core, 1 seed, --quick")
    (title, _) = table.comparisons([fake("stock", 1, 1), quick], 100)
    assert str(title).endswith("1 core, 1 seed, whole and --quick")
    (title, _) = table.comparisons([fake("stock", 1, 1)], 100)
    assert str(title).endswith("1 core, 1 seed")


@pytest.mark.parametrize(
    ("throughput", "said"), [(1234.6, "1,235"), (0.0998, "0.0998"), (5.0, "5")]
)
def test_a_rate_below_one_is_not_shown_as_none(throughput: float, said: str) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table.summary({**run(), "throughput": throughput}))
    (row,) = [line for line in console.export_text().splitlines() if "a second" in line]
    assert row.split("│")[2].strip() == said


def test_a_bound_that_was_not_measured_leaves_its_column_empty() -> None:
    (row,) = [line for line in shown(fake("tpp", 1, 120)).splitlines() if "tpp" in line]
    assert row.split() == ["tpp", "120"]


def test_a_computed_row_is_marked_and_explained() -> None:
    oracle = {**fake("oracle", 1, 190), "computed": True, "notes": ["computed"]}
    assert "oracle *" in shown(oracle)
    assert table.remarks([oracle])[0].startswith("* computed from the all-slow run")
