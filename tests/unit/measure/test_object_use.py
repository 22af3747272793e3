# SPDX-License-Identifier: GPL-2.0
"""What pages are used for: counts brought under known names, shares, percentiles, table, plot."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kloc.base.errors import KlocError
from kloc.commands import objects as command
from kloc.machine import model_config, profile
from kloc.measure import object_use, workload
from kloc.measure.workload import FULL, QUICK
from kloc.results import object_document, object_plot, object_table


def counts(allocated: int, references: int, misses: int, **more: Any) -> dict[str, Any]:
    return {
        "before": 5,
        "allocated": allocated,
        "freed": 0,
        "references": references,
        "misses": misses,
        "lifetime_ns": [],
        "interval_ns": [],
        **more,
    }


COUNTED = {
    "unknown": counts(0, 1, 0),
    "other": counts(1, 2, 3),
    "anon": counts(600, 700, 60, lifetime_ns=[[1000, 1100, 90], [2000, 2200, 10]]),
    "file": counts(300, 100, 30, interval_ns=[[4, 5, 1]]),
    "slab:dentry": counts(80, 190, 6),
    "slab:kmalloc-8": counts(1, 1, 0),
    "slab:kmalloc-16": counts(1, 1, 0),
    "slab:jbd2_inode": counts(10, 3, 1, lifetime_ns=[[8, 9, 1]]),
    "slab:jbd2_journal_head": counts(7, 2, 0, lifetime_ns=[[8, 9, 2], [16, 18, 1]]),
    "slab:skbuff_head_cache": counts(4, 2, 1),
    "socket": counts(6, 1, 1),
}
RUN = {
    "policy": "naive",
    "seed": 1,
    "machine": {"variant": "fast x 2"},
    "operations": 10,
    "seconds": 0.5,
    "instructions": {"user": 1, "kernel": 2},
    "objects": COUNTED,
}
VERSIONS = {"kernel": {"release": "6.12"}, "versions": {"qemu": "10"}, "machine": {"name": "m"}}


def document() -> dict[str, Any]:
    runs = {"small": RUN, "large": RUN}
    return object_document.assemble(VERSIONS, "redis", runs, {"small": QUICK, "large": FULL})


def test_the_journal_s_and_the_sockets_slabs_are_theirs() -> None:
    uses = object_use.uses(COUNTED)
    assert set(uses) == {
        "other",
        "anon",
        "file",
        "slab:dentry",
        "slab:kmalloc-8",
        "slab:kmalloc-16",
        "journal",
        "socket",
    }
    assert (uses["journal"].allocated, uses["journal"].references) == (17, 5)
    assert uses["journal"].lifetimes == {(8, 9): 3, (16, 18): 1}
    assert uses["journal"].alive_at_end == 13
    assert (uses["socket"].allocated, uses["other"].references) == (10, 3)


def test_shares_add_up_to_one() -> None:
    for kinds in document()["inputs"].values():
        for measure in ("references", "misses"):
            assert sum(kind[measure] for kind in kinds.values()) == pytest.approx(1, abs=1e-6)
        assert kinds["anon"]["references"] == pytest.approx(0.7, abs=0.01)
        assert sum(kind["pages_allocated"] for kind in kinds.values()) == 1010


def test_nothing_was_referred_to() -> None:
    nothing = {"anon": counts(0, 0, 0)}
    made = object_document.assemble(
        VERSIONS, "w", {"small": {**RUN, "objects": nothing}}, {"small": QUICK}
    )
    assert made["inputs"]["small"]["anon"]["references"] == 0


def test_percentiles_are_null_where_nothing_was_counted() -> None:
    kinds = document()["inputs"]["large"]
    assert kinds["file"]["lifetime_ns"] == {"p50": None, "p90": None, "p99": None}
    assert kinds["anon"]["lifetime_ns"]["p50"] == pytest.approx(1000 + 100 * 50 / 90)
    assert kinds["anon"]["lifetime_ns"]["p99"] == pytest.approx(2000 + 200 * 9 / 10)
    assert kinds["file"]["interval_ns"]["p90"] == pytest.approx(4.9)


def test_the_document_says_of_what_it_is() -> None:
    made = document()
    json.dumps(made)
    assert (made["schema"], made["workload"], made["policy"]) == (1, "redis", "naive")
    assert made["kernel"] == VERSIONS["kernel"] and made["machine"] == VERSIONS["machine"]
    assert made["measured"]["small"]["load"] == 0.25
    assert made["measured"]["large"]["pages_allocated"] == 1010
    assert list(made["inputs"]) == ["small", "large"]


def shown(number: int) -> dict[str, list[str]]:
    """Return the cells of one of the tables' rows by the first, on a narrow terminal."""
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(object_table.tables("redis, small input", object_use.uses(COUNTED))[number])
    # The title, a line of the box, two of column titles and another of the box come first.
    lines = [line.strip() for line in console.export_text().splitlines()[5:] if line.strip()]
    rows = [re.split("  +", line) for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_small_slab_caches_share_a_row() -> None:
    rows = shown(0)
    assert list(rows)[:3] == ["anon", "file", "slab:dentry"]
    assert rows["anon"] == ["600", "59.4", "500", "69.8", "58.8"]
    assert rows["2 other slabs"][0] == "2"


def test_times_are_shown_where_there_are_any() -> None:
    rows = shown(1)
    assert rows["anon"] == ["1.06us", "1.1us", "2.18us"]
    assert rows["file"] == ["4ns", "5ns", "5ns"]
    assert rows["other"] == []


@pytest.mark.parametrize(
    ("ns", "text"),
    [(None, ""), (0.4, "0ns"), (999, "999ns"), (1500, "1.5us"), (2.5e7, "25ms"), (3e9, "3s")],
)
def test_durations(ns: float | None, text: str) -> None:
    assert object_table.duration(ns) == text


@pytest.mark.parametrize(("name", "beginning"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_a_plot_is_drawn(name: str, beginning: bytes, tmp_path: Path) -> None:
    uses = object_use.uses(COUNTED)
    object_plot.plot(tmp_path / name, "redis", {"small": uses, "large": uses})
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(beginning)
    object_plot.plot(tmp_path / name, "redis", {"small": uses, "large": uses})
    assert (tmp_path / name).read_bytes() == drawn
    if name.endswith("svg"):
        assert b"page cache" in drawn and b"journal" in drawn


def options(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(argv)


def test_a_plot_of_another_kind_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"plot\.pdf.*\.svg"):
        command.run(options("redis", "--plot", f"{tmp_path}/plot.pdf"))


def test_a_dry_run_names_both_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("redis", "--dry-run")) == 0
    assert capsys.readouterr().out.splitlines() == [
        "redis under naive, seed 1, small input, observed",
        "redis under naive, seed 1, large input, observed",
    ]


def test_the_model_is_told_to_observe() -> None:
    tasks = object_use.tasks(workload.load("redis"), profile.load("tiered"), 1)
    assert [task.size for task in tasks.values()] == [QUICK, FULL]
    memory = {"fast": "/fast", "slow": "/slow", "page": "/page"}
    for task in tasks.values():
        assert "\nobserve=1\n" in model_config.model_config(task.job(), Path("/run"), memory)
