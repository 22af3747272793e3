# SPDX-License-Identifier: GPL-2.0
"""`kloc cold` on made-up files of DAMON, tracefs and /proc, with a made-up clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import cold as command
from kloc.heat import processes, recorder
from kloc.schemes import damon
from support import fake_damon, fake_pages, fake_tracing, golden
from support.command import parse, run
from support.fake_pages import ANONYMOUS, FILE, PAGE, PIECE, SHARED

PID = 12

HOT, END = PIECE, 4 * PIECE
"""Pages of the process: those up to HOT are used all the time, the others up to END never."""


class System:
    """A made-up kernel that traces DAMON's regions in each pause of the recorder."""

    def __init__(self, monkeypatch: Any, root: Path) -> None:
        self.damon = fake_damon.install(monkeypatch, root)
        self.tracing = fake_tracing.install(monkeypatch, root)
        self.pages = fake_pages.install(monkeypatch, root)
        self.root = root
        self.time = 1000.0
        self.step: Callable[[], None] = self.trace
        clock = SimpleNamespace(monotonic=lambda: self.time, sleep=self.pause)
        monkeypatch.setattr(recorder, "time", clock)
        self.pages.set_flags([*[0] * PIECE, *fake_pages.huge(ANONYMOUS), *self.small()])
        self.pages.add_process(PID, {0: range(PIECE, PIECE + END)})

    @staticmethod
    def small() -> list[int]:
        return [*[ANONYMOUS] * PIECE, *[FILE] * PIECE, *[SHARED] * PIECE]

    def trace(self, regions: Sequence[tuple[int, int, int]] = ()) -> None:
        regions = regions or [(0, HOT * PAGE, 3), (HOT * PAGE, END * PAGE, 0)]
        self.tracing.trace(fake_tracing.lines(self.time, regions))

    def pause(self, seconds: float) -> None:
        self.time += seconds
        self.step()

    def is_untouched(self) -> bool:
        """Return whether DAMON and tracefs are as they were before."""
        return not (self.damon.running() or damon.kdamonds() or self.tracing.instance.exists())


@pytest.fixture
def system(monkeypatch: Any, tmp_path: Path) -> System:
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    monkeypatch.setattr(command.os, "uname", lambda: SimpleNamespace(release="6.12.1"))
    return System(monkeypatch, tmp_path)


def test_memory_that_was_not_accessed_is_printed_by_kind_and_page_size(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("cold", "--pid", str(PID)) == 0
    printed = capsys.readouterr()
    golden.check("cold", printed.out)
    assert f"observing process {PID} (made-up-12) for 2m30s" in printed.err
    assert "too short" not in printed.err
    assert system.damon.commands == ["on", "off"] and system.is_untouched()


def test_the_file_has_bytes(system: System, tmp_path: Path) -> None:
    path = tmp_path / "cold.json"
    assert run("cold", "--pid", str(PID), "--for", "2m", "--json", str(path)) == 0
    content = json.loads(path.read_text())
    assert content["seconds"] >= 120 and content["lost"] == 0
    small, whole, file, shared = content["memory"]
    assert (whole["kind"], whole["page_bytes"]) == ("anonymous", 2 << 20)
    assert set(whole["idle_bytes"].values()) == {0}
    assert {one["page_bytes"] for one in (small, file, shared)} == {4096}
    assert {one["idle_bytes"]["120"] for one in (small, file, shared)} == {2 << 20}
    assert content["all"]["bytes"] == 8 << 20
    assert content["all"]["idle_bytes"] == {"10": 6 << 20, "30": 6 << 20, "120": 6 << 20}


def test_a_short_observation_says_which_thresholds_it_cannot_tell(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("cold", "--pid", str(PID), "--for", "10s") == 0
    printed = capsys.readouterr()
    assert "6.0   75 %" in printed.out and printed.out.count("not observed") == 2 * 5
    assert "too short to tell what was not accessed for 30s and 2m" in printed.err
    assert "--for 2m30s" in printed.err


def test_ctrl_c_ends_the_observation_with_what_there_is(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        system.trace()
        if system.time > 1012:
            raise KeyboardInterrupt

    system.step = interrupt
    assert run("cold", "--pid", str(PID)) == 0
    printed = capsys.readouterr()
    assert "observed for 12 s" in printed.out and "30s and 2m" in printed.err
    assert system.is_untouched()


def test_memory_that_is_used_again_is_not_cold(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    def use_once() -> None:
        used = 3 if 1125 < system.time < 1126 else 0
        system.trace([(0, 2 * PIECE * PAGE, 3), (2 * PIECE * PAGE, END * PAGE, used)])

    system.step = use_once
    run("cold", "--pid", str(PID), "--json", "-")
    content = json.loads(capsys.readouterr().out)
    # That was about 24 s before the end.
    assert content["all"]["idle_bytes"] == {"10": 4 << 20, "30": 0, "120": 0}


def test_all_memory_is_monitored_by_its_physical_addresses(
    system: System, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ram = damon.Physical(((0, 5 * PIECE * PAGE),))
    monkeypatch.setattr(damon, "physical_memory", lambda: ram)
    system.step = lambda: system.trace([(0, 2 * PIECE * PAGE, 1), (2 * PIECE * PAGE, 5 << 21, 0)])
    assert run("cold", "--all", "--for", "31s", "--json", "-") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["all"]["idle_bytes"] == {"10": 6 << 20, "30": 6 << 20, "120": None}
    assert (f"{damon.KDAMONDS}/0/contexts/0/operations", "paddr") in system.damon.written


def test_a_cgroup_is_observed_by_its_largest_processes(
    system: System, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "MOST", 1)
    (system.pages.proc / "self").mkdir()
    (system.pages.proc / "self" / "mounts").write_text("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    system.pages.add_process(13, {0: [PIECE + 1]})
    inner = system.root / "sys/fs/cgroup/web.slice/worker"
    inner.mkdir(parents=True)
    (inner.parent / "cgroup.procs").write_text("13\n")
    (inner / "cgroup.procs").write_text(f"{PID}\n")
    assert run("cold", "--cgroup", "/web.slice", "--for", "10s") == 0
    printed = capsys.readouterr()
    assert "cgroup /web.slice, observed for 10 s" in printed.out and "8.0" in printed.out
    assert "processes that were not observed: 1" in printed.err
    (inner / "cgroup.procs").write_text("")
    (inner.parent / "cgroup.procs").write_text("")
    with pytest.raises(KlocError, match="has no processes"):
        run("cold", "--cgroup", "/web.slice")
    with pytest.raises(KlocError, match="there is no cgroup /nosuch"):
        run("cold", "--cgroup", "/nosuch")


def test_an_error_leaves_damon_as_it_was(system: System) -> None:
    def fail() -> None:
        raise RuntimeError

    system.step = fail
    with pytest.raises(RuntimeError):
        run("cold", "--pid", str(PID))
    assert system.is_untouched()


def test_a_process_that_ends_is_an_error(system: System) -> None:
    def end() -> None:
        system.trace()
        for name in ("stat", "smaps"):
            (system.pages.proc / str(PID) / name).unlink(missing_ok=True)

    system.step = end
    with pytest.raises(KlocError, match="has ended, and its memory is free"):
        run("cold", "--pid", str(PID))
    assert system.is_untouched()


def test_damon_of_others_is_left_alone(system: System) -> None:
    system.damon.start_others()
    with pytest.raises(KlocError, match="DAMON is in use"):
        run("cold", "--pid", str(PID))
    assert not system.damon.written and system.tracing.made == 0


def test_a_user_who_may_not_is_told_so(system: System, monkeypatch: Any) -> None:
    monkeypatch.setattr(damon.os, "access", lambda *_: False)
    with pytest.raises(KlocError, match="only root") as error:
        run("cold", "--pid", str(PID))
    assert "as root" in str(error.value.hint)


def test_a_kernel_that_tells_no_kinds_is_refused(system: System) -> None:
    (system.pages.proc / "kpageflags").unlink()
    with pytest.raises(KlocError, match="does not tell the kinds of pages"):
        run("cold", "--pid", str(PID))
    assert not system.damon.written


def test_lost_intervals_are_named(system: System, capsys: pytest.CaptureFixture[str]) -> None:
    def lose() -> None:
        system.trace()
        if system.time < 1001:
            system.tracing.trace("CPU:0 [LOST 7 EVENTS]\n")

    system.step = lose
    run("cold", "--pid", str(PID), "--for", "10s")
    assert "intervals of DAMON were lost" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [[], ["--pid", "1", "--all"], ["--cgroup", "/a", "--pid", "1"], ["--all", "--cgroup=/"]]
)
def test_one_thing_is_observed(argv: list[str], system: System) -> None:
    with pytest.raises(UsageError, match="name one thing to observe"):
        run("cold", *argv)


@pytest.mark.parametrize(
    ("text", "seconds"), [("2m30s", 150), ("40s", 40), ("1h30m", 5400), ("1.5s", 1.5)]
)
def test_times_may_have_several_parts(text: str, seconds: float) -> None:
    assert parse("cold", "--all", "--for", text).duration == seconds


@pytest.mark.parametrize("text", ["2m30", "m30s", "2m 30s", "0s", "-1s", "2m30x"])
def test_wrong_times_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("cold", "--all", f"--for={text}")
    assert "is not a time" in capsys.readouterr().err
