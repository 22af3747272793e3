# SPDX-License-Identifier: GPL-2.0
"""The picture of a comparison: what it says, that it is a small file of its own, and its bytes."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kloc.results import printed
from kloc.results.report import kinds, picture
from kloc.results.report.cases import Case, cases
from kloc.results.report.standalone import NAMESPACE
from support import golden, made_up

BYTES_MAX = 40 * 1000
"""The size of a file that a README shows at once."""

SPEEDS = {"all-slow": 100.0, "stock": 140.0, "tpp": 160.0, "kloc": 170.0, "all-fast": 200.0}

SERIES = {
    "t_ns": [5_000_000, 10_000_000, 15_000_000],
    "pages_fast": {
        "anon": [8192, 20480, 25600],
        "file": [32768, 20480, 16384],
        "socket": [0, 1, 9],
    },
}

EVIL = "<script>alert('$x$')</script>\x07\ud800&\"quoted\""


def document(
    workloads: Sequence[str] = ("redis",), seeds: Sequence[int] = (1,), **other: Any
) -> dict[str, Any]:
    """Return a document of SPEEDS and the oracle, with ratios; `other` replaces keys of runs."""
    runs = []
    for workload in workloads:
        for seed in seeds:
            keys = {
                "seed": seed,
                "kloc": "0123456789ab",
                "inputs": {"kernel": "71c8"},
                "series": SERIES,
                **other,
            }
            drawn = [made_up.run(name, speed + seed, workload) for name, speed in SPEEDS.items()]
            drawn.append(made_up.oracle(180.0, workload))
            runs += [{**run, **keys} for run in drawn]
    return printed.with_ratios(made_up.document(*runs), None)


def only(content: dict[str, Any]) -> Case:
    (case,) = cases(content["runs"])
    return case


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    """Return what the picture shows as text, from top to bottom in each column."""
    return [element.text or "" for element in parsed(svg).iter(f"{{{NAMESPACE}}}text")]


def words(svg: str) -> str:
    return " ".join(texts(svg))


@pytest.fixture(scope="module")
def svg() -> str:
    """The picture of two workloads with one seed, which have no stated spread."""
    return picture.render(document(("redis", "rocksdb")))


def test_the_picture_is_the_golden_file() -> None:
    drawn = picture.render(document(seeds=(1, 2, 3)))
    golden.check("reports/picture", drawn.replace("><", ">\n<"), suffix=".svg")


def test_the_same_document_gives_the_same_bytes(svg: str) -> None:
    content = document(("redis", "rocksdb"))
    assert picture.render(content) == svg
    assert picture.render(copy.deepcopy(content)) == svg


def test_the_file_needs_no_other_one_and_runs_nothing(svg: str) -> None:
    root = parsed(svg)
    tags = {element.tag.removeprefix(f"{{{NAMESPACE}}}") for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "path", "text", "defs", "use", "g"}
    assert svg.count("http") == 1
    assert not re.findall(r"@import|url\(|\son\w+=|javascript:", svg)
    links = [element.get("href") for element in root.iter() if element.get("href")]
    assert {link.removeprefix("#") for link in links if link} <= {
        element.get("id") for element in root.iter()
    }


def test_screen_readers_get_a_title_and_all_figures(svg: str) -> None:
    root = parsed(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"] == "title desc"
    title, description = root[0], root[1]
    assert (title.get("id"), description.get("id")) == ("title", "desc")
    assert title.text == "kloc: One seed: cannot tell which policy is fastest on redis and rocksdb"
    assert "redis, operations per second: all-slow 101; stock 141 (0.88 of tpp, one seed" in str(
        description.text
    )


def test_one_seed_cannot_tell_and_the_baseline_is_named(svg: str) -> None:
    shown = texts(svg)
    assert shown.count("cannot tell") == 4
    assert shown.count("baseline") == shown.count("against tpp") == 2
    assert "One seed cannot tell who is ahead" in words(svg)
    assert not {"ahead", "behind", "tie"} & set(shown)


def test_units_and_what_it_was_measured_with_are_shown(svg: str) -> None:
    shown = texts(svg)
    assert shown.count("operations/s") == shown.count("ms of core time per operation") == 2
    assert shown.count("fast memory, 192 MiB") == 2
    assert re.search(r"by kloc at commit 0123456789ab, inputs [0-9a-f]{16}\.", words(svg))


def test_several_seeds_are_judged_by_the_rule_of_the_terminal() -> None:
    shown = texts(picture.render(document(seeds=(1, 2, 3))))
    assert shown.count("behind") == shown.count("ahead") == 1
    assert "cannot tell" not in shown
    assert "kloc is fastest on redis, with 70 % of the headroom" in shown
    assert any("geometric mean of the ratios seed by seed" in line for line in shown)


def test_the_commit_of_the_tables_is_named_as_they_name_it() -> None:
    content = {**document(), "commit": "fedcba9876543210"}
    assert "by kloc at commit fedcba9, inputs" in words(picture.render(content))


def test_colors_are_those_of_reports_in_the_light_and_in_the_dark(svg: str) -> None:
    style = next(parsed(svg).iter(f"{{{NAMESPACE}}}style")).text or ""
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    colored = set(re.findall(r"\.(s\d+)\{[^}]*#", light))
    assert colored
    assert colored == set(re.findall(r"\.(s\d+)\{[^}]*#", dark))
    assert "#0072b2" in light and "#3c97d3" in dark
    assert not re.findall(r"#0[0-9a-f]{2}b0\d", svg)


def test_a_picture_is_small_and_names_what_it_leaves_out() -> None:
    samples = range(1, 500)
    mixed = {
        kind: [pages + 37 * number % 400 for number in samples]
        for kind, pages in (("anon", 9000), ("file", 9000), ("slab:dentry", 3000), ("socket", 2000))
    }
    series = {"t_ns": [1_000_000 * number for number in samples], "pages_fast": mixed}
    stalls = {
        tier: {kind: {"user": 1e9 / number} for number, kind in enumerate(mixed, 1)}
        for tier in ("fast", "slow", "cache")
    }
    names = [f"workload{number}" for number in range(9)]
    content = document(names, (1, 2, 3), series=series, stall_ns=stalls)
    drawn = picture.render(content)
    fitting = picture.ROWS_MAX // (len(SPEEDS) + 1)
    assert [line for line in texts(drawn) if line.startswith("workload")] == names[:fitting]
    assert f"Not shown: {', '.join(names[fitting:-1])} and {names[-1]}." in texts(drawn)
    assert len(drawn.encode()) < BYTES_MAX


def test_core_time_adds_up_and_waits_for_caches_are_not_for_slow_memory() -> None:
    stalls = {
        "fast": {"anon": {"user": 1e9}},
        "slow": {"file": {"user": 1.5e9}},
        "cache": {"anon": {"user": 0.5e9}, "pagetable": {"kernel": 1e6}},
    }
    parts = picture.time_parts(only(document(cores=2, stall_ns=stalls)))["tpp"]
    # 161 operations/s on two cores.
    assert sum(parts.values()) == pytest.approx(2 / 161)
    assert parts[kinds.APPLICATION, "fast"] == pytest.approx(1.5 / 1000)
    assert parts[kinds.PAGE_CACHE, "slow"] == pytest.approx(1.5 / 1000)
    # The page tables are few under all policies.
    assert parts[kinds.OTHER, "fast"] == pytest.approx(0.001 / 1000)
    assert list(parts)[-2:] == [(kinds.STORAGE, ""), (kinds.IDLE, "")]


def test_pages_are_those_of_the_policies_and_end_at_the_last_sample() -> None:
    content = document()
    found = picture.fast_pages(only(content))
    assert list(found) == ["stock", "tpp", "kloc"]
    millis, groups = found["tpp"]
    assert (millis[0], millis[-1]) == (5, 15)
    # The sockets have few pages.
    assert groups == {
        kinds.APPLICATION: [32, 80, 100],
        kinds.PAGE_CACHE: [128, 80, 64],
        kinds.OTHER: [0, 1 / 256, 9 / 256],
    }


@pytest.mark.parametrize(
    "other",
    [
        {"series": {}},
        {"stall_ns": {}},
        {"throughput": 0, "operations": 0},
        {"operations": 1},
        {"machine": {"name": "tiered"}},
        {"inputs": None, "kloc": "unknown"},
        {"spread": 0.5, "workload": "x" * 99},
    ],
    ids=lambda other: ",".join(other),
)
def test_results_that_lack_something_are_drawn(other: dict[str, Any]) -> None:
    drawn = picture.render(document(**other))
    assert "tpp" in texts(drawn)


def test_a_single_policy_is_judged_against_nothing() -> None:
    drawn = picture.render(made_up.document(made_up.run("mine", 100)))
    assert "mine" in texts(drawn)
    assert not [line for line in texts(drawn) if "against" in line or "ahead" in line]


@pytest.mark.parametrize("place", ["workload", "policy", "variant"])
def test_names_are_escaped(place: str) -> None:
    runs = [made_up.run(name, speed) for name, speed in SPEEDS.items()]
    for number in (1, 3):
        evil = runs[number]["machine"] if place == "variant" else runs[number]
        evil[place] = EVIL + str(number)
    drawn = picture.render(made_up.document(*runs))
    assert "<script" not in drawn
    assert parsed(drawn) is not None
    assert "\x07" not in drawn


def test_a_picture_is_written_completely_and_the_old_one_kept(tmp_path: Path) -> None:
    path = tmp_path / "compare.svg"
    path.write_text("old")
    picture.write(path, document())
    assert path.read_text() == picture.render(document())
    assert (tmp_path / "compare.svg.old").read_text() == "old"
