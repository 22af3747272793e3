# SPDX-License-Identifier: GPL-2.0
"""DAMON is taken, used and given back as it was, on made-up files."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.schemes import damon, sysfs, text
from kloc.schemes.sysfs import KDAMONDS, Attributes, Processes
from support import fake_damon

PRCL = text.load("prcl")
ONE = Processes((12,))


@pytest.fixture
def fake(monkeypatch: Any, tmp_path: Path) -> fake_damon.FakeDamon:
    return fake_damon.install(monkeypatch, tmp_path)


def configure(fake: fake_damon.FakeDamon) -> dict[str, str]:
    """Leave settings of somebody else, which do not run; return all files."""
    attributes = Attributes(sampling_us=7000)
    other = text.parse("4K 8K min max 1s max stat quota bytes=4M skip target=1", "f")
    for path, content in sysfs.writes(other, attributes, Processes((77, 78)), state="off"):
        fake.write(path, content)
    return damon.read_all()


def record(fake: fake_damon.FakeDamon) -> Path:
    return fake.root / damon.RECORD.lstrip("/")


@pytest.mark.parametrize("settings", [False, True], ids=["none", "settings"])
def test_schemes_are_applied_and_everything_is_restored(
    settings: bool, fake: fake_damon.FakeDamon
) -> None:
    before = configure(fake) if settings else damon.read_all()
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        (kdamond,) = damon.kdamonds()
        assert kdamond.running and damon.is_own(kdamond)
        assert kdamond.target == ONE
        assert record(fake).exists()
    assert damon.read_all() == before
    assert not record(fake).exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_everything_is_restored_after_errors_and_ctrl_c(
    error: type[BaseException], fake: fake_damon.FakeDamon
) -> None:
    before = configure(fake)
    with pytest.raises(error), damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        raise error
    assert damon.read_all() == before
    assert not record(fake).exists()


def test_a_second_application_replaces_the_first(fake: fake_damon.FakeDamon) -> None:
    with damon.taken() as taken:
        for pid in (12, 13):
            taken.apply(PRCL, Attributes(), Processes((pid,)))
        assert damon.kdamonds()[0].target == Processes((13,))
    assert fake.commands == ["on", "off", "on", "off"]


def test_kdamonds_of_others_are_left_alone(fake: fake_damon.FakeDamon) -> None:
    fake.start_others()
    with pytest.raises(KlocError, match="DAMON is in use: kdamond 0") as error, damon.taken():
        pytest.fail("taken")
    assert "pageout on physical memory" in error.value.message
    assert f"echo off > {KDAMONDS}/0/state" in str(error.value.hint)
    with pytest.raises(KlocError, match="kloc did not start it"):
        damon.stop_kept()
    assert fake.running() and not fake.written


def test_parts_of_the_kernel_that_exclude_others_are_named(fake: fake_damon.FakeDamon) -> None:
    parameters = fake.root / "sys/module/damon_reclaim/parameters"
    parameters.mkdir(parents=True)
    (parameters / "enabled").write_text("Y\n")
    with pytest.raises(KlocError, match="damon_reclaim uses DAMON") as error, damon.taken():
        pytest.fail("taken")
    assert "echo N > /sys/module/damon_reclaim/parameters/enabled" in str(error.value.hint)


def test_a_scheme_can_be_left_applied_and_stopped_later(fake: fake_damon.FakeDamon) -> None:
    before = configure(fake)
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        taken.keep()
    assert fake.running()
    with pytest.raises(KlocError, match="kloc already applies a scheme") as error, damon.taken():
        pytest.fail("taken")
    assert error.value.hint == "kloc scheme stop ends it"
    assert damon.stop_kept()
    assert damon.read_all() == before
    assert not damon.stop_kept()


def test_settings_from_before_a_kdamond_that_ended_itself_are_restored(
    fake: fake_damon.FakeDamon,
) -> None:
    before = configure(fake)
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        taken.keep()
    fake.end()
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), Processes((13,)))
    assert damon.read_all() == before


def test_a_kdamond_may_end_just_before_it_is_stopped(fake: fake_damon.FakeDamon) -> None:
    before = configure(fake)
    fake.ends_first = True
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        taken.apply(PRCL, Attributes(), Processes((13,)))
    assert damon.read_all() == before
    assert not record(fake).exists()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (damon.STATE, "DAMON does not stop: .*/0/state: Input/output error"),
        (f"{KDAMONDS}/nr_kdamonds", "settings are not restored: .*Input/output error"),
    ],
)
def test_settings_that_cannot_be_restored_are_kept(
    path: str, words: str, fake: fake_damon.FakeDamon
) -> None:
    before = configure(fake)
    with pytest.raises(KlocError, match=words) as error, damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        fake.refused[path] = errno.EIO
    assert "kloc scheme stop" in str(error.value.hint)
    assert record(fake).exists()
    damon.stop_kept()
    assert damon.read_all() == before
    assert not record(fake).exists()


def test_a_killed_kloc_leaves_a_record_with_which_stop_restores(
    fake: fake_damon.FakeDamon,
) -> None:
    before = configure(fake)
    damon.Damon(damon._take()).apply(PRCL, Attributes(), ONE)
    assert json.loads(record(fake).read_text())["pids"] == [fake_damon.PID + 1]
    assert damon.stop_kept()
    assert damon.read_all() == before


@pytest.mark.parametrize(
    ("before", "now", "order"),
    [
        ([1, 2, 3], [3, 2, 1], [1, 2, 3]),
        ([1, 2, 3], [1, 3], [1, 3]),
        ([1, 2, 3], [2, 3], [3, 2]),
        ([1, 2, 3], [2, 3, 9], [9, 2, 3]),
        ([1, 2, 3], [1, 8, 9], [1, 8, 9]),
        ([1], [1, 8, 9], [1, 8, 9]),
        ([1, 2, 3], [9], [9]),
    ],
)
def test_processes_keep_their_numbers(before: list[int], now: list[int], order: list[int]) -> None:
    assert sysfs.numbered(before, now) == order


def test_no_process_gets_the_regions_of_another_one(fake: fake_damon.FakeDamon) -> None:
    """The kernel keeps a target's regions at a commit that only changes its pid."""
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), Processes((12, 13, 14)))
        for running, replaced in (([13, 14], [0]), ([13, 14, 15], []), ([13, 15, 16], [0])):
            before = taken.pids
            fake.written.clear()
            assert taken.retarget(running)
            assert sorted(taken.pids) == sorted(running)
            found = dict(fake.written)
            fresh = [
                number
                for number in range(len(running))
                if f"{KDAMONDS}/0/contexts/0/targets/{number}/regions/nr_regions" in found
            ]
            assert fresh == replaced
            kept = [n for n in range(min(len(before), len(running))) if before[n] == taken.pids[n]]
            assert not set(kept) & set(fresh)
            for number in fresh:
                region = f"{KDAMONDS}/0/contexts/0/targets/{number}/regions/0"
                assert (found[f"{region}/start"], found[f"{region}/end"]) == ("0", "4096")


def test_other_processes_are_watched_after_a_commit(fake: fake_damon.FakeDamon) -> None:
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        taken.retarget([12])
        assert "commit" not in fake.commands
        taken.retarget([12, 14])
        assert damon.kdamonds()[0].target == Processes((12, 14))
        # A process that ended meanwhile is no error.
        fake.refused[damon.STATE] = errno.EINVAL
        taken.retarget([12, 15])
        fake.refused.clear()
        taken.retarget([12, 15])
    assert fake.commands == ["on", "commit", "commit", "off"]


@pytest.mark.parametrize(
    ("path", "number", "words"),
    [
        (damon.STATE, errno.EINVAL, "refused to monitor process 12"),
        (f"{KDAMONDS}/0/contexts/0/operations", errno.EINVAL, "no operations vaddr"),
        (f"{KDAMONDS}/0/contexts/0/schemes/nr_schemes", errno.EACCES, "only root"),
        (f"{KDAMONDS}/0/contexts/0/schemes/0/action", errno.EINVAL, "refused 'pageout'"),
        (damon.STATE, errno.EBUSY, "another program uses DAMON"),
    ],
)
def test_refused_writes_are_explained_and_undone(
    path: str, number: int, words: str, fake: fake_damon.FakeDamon
) -> None:
    before = configure(fake)
    fake.refused[path] = number
    with pytest.raises(KlocError, match=words) as error, damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
    assert error.value.hint
    fake.refused.clear()
    assert damon.read_all() == before


def test_a_kernel_without_damon_is_named(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    with pytest.raises(KlocError, match="has no DAMON") as error:
        damon.check()
    assert "CONFIG_DAMON_SYSFS" in str(error.value.hint)


def test_other_users_are_told_to_be_root(monkeypatch: Any, fake: fake_damon.FakeDamon) -> None:
    monkeypatch.setattr(damon.os, "access", lambda *_: False)
    with pytest.raises(KlocError, match="only root may change"):
        damon.check()
    with pytest.raises(KlocError, match="only root may read"):
        damon.kdamonds()
    with pytest.raises(KlocError, match="only root"), damon.taken():
        pytest.fail("taken")


def test_statistics_are_brought_up_to_date_first(fake: fake_damon.FakeDamon) -> None:
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        damon.kdamonds(update=True)
        assert fake.commands[-1] == "update_schemes_stats"


def test_physical_memory_is_all_ram(fake: fake_damon.FakeDamon) -> None:
    (fake.root / "proc").mkdir()
    path = fake.root / "proc/iomem"
    path.write_text(
        "00001000-0009ffff : System RAM\n"
        "000a0000-000bffff : PCI Bus\n"
        "100000000-1ffffffff : System RAM\n"
        "  100000000-1000fffff : Kernel code\n"
        "300000000-3ffffffff : CXL Window 0\n"
        "  300000000-3ffffffff : System RAM (kmem)\n"
    )
    assert damon.physical_memory().ranges == (
        (0x1000, 0xA0000),
        (0x100000000, 0x200000000),
        (0x300000000, 0x400000000),
    )
    # Only root sees addresses.
    path.write_text("00000000-00000000 : System RAM\n")
    with pytest.raises(KlocError, match="where the RAM is"):
        damon.physical_memory()


def test_files_that_are_locked_are_written_again(
    monkeypatch: Any, fake: fake_damon.FakeDamon
) -> None:
    monkeypatch.setattr(damon, "BUSY_SECONDS", 10.0)
    with damon.taken() as taken:
        fake.refused[damon.STATE] = errno.EBUSY
        taken.apply(PRCL, Attributes(), ONE)
        fake.refused[damon.STATE] = errno.EBUSY
        taken.stop()
        assert fake.commands == ["on", "off"]


def test_kdamonds_cannot_be_made_while_one_runs(
    monkeypatch: Any, fake: fake_damon.FakeDamon
) -> None:
    monkeypatch.setattr(damon, "BUSY_SECONDS", 1000.0)
    fake.start_others()
    with pytest.raises(OSError, match="busy"):
        damon.write(f"{KDAMONDS}/nr_kdamonds", "2")


def test_only_one_kloc_uses_damon(fake: fake_damon.FakeDamon) -> None:
    with damon.taken() as taken:
        taken.apply(PRCL, Attributes(), ONE)
        with pytest.raises(KlocError, match="another kloc is using DAMON"):
            damon.stop_kept()
        assert fake.running()
        with pytest.raises(KlocError, match="another kloc is using DAMON"), damon.taken():
            pytest.fail("taken")
