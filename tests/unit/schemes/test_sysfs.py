# SPDX-License-Identifier: GPL-2.0
"""Schemes as writes to DAMON's files, and the files as schemes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.schemes import damon, sysfs, text
from kloc.schemes.sysfs import Attributes, Physical, Processes
from support import fake_damon

CONTEXT = "/sys/kernel/mm/damon/admin/kdamonds/0/contexts/0"
SCHEME = f"{CONTEXT}/schemes/0"

ATTRIBUTES = Attributes()
ONE = Processes((12,))
RAM = Physical(((4096, 1 << 30), (1 << 32, 1 << 33)))


def lines(content: str, target: sysfs.Target = ONE, **attributes: int) -> list[sysfs.Write]:
    return sysfs.writes(text.parse(content, "f"), replace(ATTRIBUTES, **attributes), target)


def test_prcl_is_written_with_the_papers_attributes() -> None:
    assert sysfs.writes(text.load("prcl"), ATTRIBUTES, ONE) == [
        ("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "1"),
        ("/sys/kernel/mm/damon/admin/kdamonds/0/contexts/nr_contexts", "1"),
        (f"{CONTEXT}/operations", "vaddr"),
        (f"{CONTEXT}/monitoring_attrs/intervals/sample_us", "5000"),
        (f"{CONTEXT}/monitoring_attrs/intervals/aggr_us", "100000"),
        (f"{CONTEXT}/monitoring_attrs/intervals/update_us", "1000000"),
        (f"{CONTEXT}/monitoring_attrs/nr_regions/min", "10"),
        (f"{CONTEXT}/monitoring_attrs/nr_regions/max", "1000"),
        (f"{CONTEXT}/targets/nr_targets", "1"),
        (f"{CONTEXT}/targets/0/pid_target", "12"),
        (f"{CONTEXT}/schemes/nr_schemes", "1"),
        (f"{SCHEME}/action", "pageout"),
        (f"{SCHEME}/access_pattern/sz/min", "4096"),
        (f"{SCHEME}/access_pattern/sz/max", "18446744073709551615"),
        (f"{SCHEME}/access_pattern/nr_accesses/min", "0"),
        (f"{SCHEME}/access_pattern/nr_accesses/max", "0"),
        (f"{SCHEME}/access_pattern/age/min", "50"),
        (f"{SCHEME}/access_pattern/age/max", "4294967295"),
        ("/sys/kernel/mm/damon/admin/kdamonds/0/state", "on"),
    ]


@pytest.mark.parametrize(
    ("limits", "samples"),
    [("80% max", ("16", "4294967295")), ("min 5%", ("0", "1")), ("3% 99%", ("1", "19"))],
)
def test_percent_are_rounded_to_the_inside(limits: str, samples: tuple[str, str]) -> None:
    written = dict(lines(f"min max {limits} min max stat"))
    pattern = f"{SCHEME}/access_pattern/nr_accesses"
    assert (written[f"{pattern}/min"], written[f"{pattern}/max"]) == samples


def test_ages_are_aggregation_intervals() -> None:
    written = dict(lines("min max min max 3s 10s stat", aggregation_us=2_000_000))
    pattern = f"{SCHEME}/access_pattern/age"
    assert (written[f"{pattern}/min"], written[f"{pattern}/max"]) == ("2", "5")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("min max 6% 9% min max stat", "frequency in samples"),
        ("min max min max 110ms 190ms stat", "age in aggregation intervals"),
        ("min max 90% 5 min max stat", "frequency in samples"),
    ],
)
def test_limits_with_nothing_between_them_are_an_error(content: str, words: str) -> None:
    with pytest.raises(KlocError, match=words) as error:
        lines(content)
    assert "20 samples" in str(error.value.hint)


def test_a_quota_that_damon_looks_at_too_seldom_is_an_error() -> None:
    content = "min max min max min max pageout quota bytes=128M reset=100ms"
    assert lines(content)
    assert lines(content, aggregation_us=100_999, sampling_us=100_999)
    with pytest.raises(KlocError, match=r"reset=100ms is shorter than .* \(2s\)") as error:
        lines(content, aggregation_us=2_000_000)
    assert "write reset=2s or more" in str(error.value.hint)


def test_physical_memory_is_written_as_regions() -> None:
    written = lines("min max min min 5s max lru_deprio", RAM)
    assert (f"{CONTEXT}/operations", "paddr") in written
    assert (f"{CONTEXT}/targets/0/regions/nr_regions", "2") in written
    assert (f"{CONTEXT}/targets/0/regions/1/end", str(1 << 33)) in written


def test_what_damon_would_ignore_is_an_error() -> None:
    with pytest.raises(KlocError, match="lru_prio has no effect on processes") as error:
        lines("min max min max min max lru_prio")
    assert error.value.hint == "use --physical"
    with pytest.raises(KlocError, match="hugepage has no effect on physical memory"):
        lines("min max min max min max hugepage", RAM)
    with pytest.raises(KlocError, match="filters anon, memcg have no effect on processes"):
        lines("min max min max min max pageout skip anon only memcg=/a skip target=0")


OPTIONS = """\
min max min max min max migrate_cold node=1 \\
  quota time=10ms bytes=128M reset=2s weights=size:1,frequency:2,age:3 \\
  watermarks metric=free_mem_rate interval=5s high=50% mid=40% low=20% \\
  skip anon only memcg=/a skip addr=0x1000-0x2000
4K 2M 1 19 100ms 5s stat
"""


@pytest.fixture
def fake(monkeypatch: Any, tmp_path: Path) -> fake_damon.FakeDamon:
    return fake_damon.install(monkeypatch, tmp_path)


def test_what_is_written_is_read_as_the_same_schemes(fake: fake_damon.FakeDamon) -> None:
    schemes = text.parse(OPTIONS, "f")
    attributes = Attributes(7000, 100_000, 2_000_000, 5, 50)
    for path, content in sysfs.writes(schemes, attributes, RAM):
        fake.write(path, content)
    (kdamond,) = sysfs.read(damon.read_all())
    assert list(kdamond.schemes) == schemes
    assert kdamond.attributes == attributes
    assert kdamond.target == RAM
    assert kdamond.running and kdamond.pid == fake_damon.PID + 1
    assert kdamond.unknown == ()
    assert kdamond.stats == (sysfs.Stats(), sysfs.Stats())


def test_filters_of_later_kernels_are_named_as_unknown(fake: fake_damon.FakeDamon) -> None:
    for path, content in lines("min max min max min max stat skip addr=0-1 skip addr=1-2", RAM):
        fake.write(path, content)
    files = dict(damon.read_all())
    files[f"{SCHEME}/filters/0/type"] = "unmapped"
    files[f"{SCHEME}/filters/1/allow"] = "Y"
    (kdamond,) = sysfs.read(files)
    assert kdamond.unknown == ("filter reject unmapped", "filter allow addr")
    assert kdamond.schemes[0].filters == ()


def test_folders_are_restored_before_what_is_in_them(fake: fake_damon.FakeDamon) -> None:
    for path, content in sysfs.writes(text.parse(OPTIONS, "f"), ATTRIBUTES, RAM, state="off"):
        fake.write(path, content)
    before = damon.read_all()
    todo = sysfs.restoring(before)
    assert not any(path.endswith(("state", "pid", "nr_tried")) for path, _ in todo)
    fake.write("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0")
    for path, content in todo:
        fake.write(path, content)
    assert damon.read_all() == before
