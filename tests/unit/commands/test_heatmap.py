# SPDX-License-Identifier: GPL-2.0
"""`kloc heatmap` on made-up DAMON and tracefs files."""

from __future__ import annotations

import json
import os
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import heatmap as command
from kloc.heat import kinds, processes, recorder, records, tiers
from kloc.schemes import damon
from support import fake_damon, fake_tracing, made_up_heat
from support.command import parse, run

REGIONS = [(0x400000, 0x500000, 0), (0x500000, 0x800000, 20)]

OWN = str(os.getpid())


class Kernel:
    """Made-up DAMON and tracefs.

    `start` is called when DAMON starts, `step` instead of each pause of the recorder.
    """

    def __init__(self, damon_files: fake_damon.FakeDamon, traced: fake_tracing.FakeTracing) -> None:
        self.damon = damon_files
        self.tracing = traced
        self.pauses = 0
        self.start: Callable[[], None] = self.trace
        self.step: Callable[[], None] = self.trace

    def trace(self, regions: Any = tuple(REGIONS), target: int = 0) -> None:
        """Let DAMON see regions now."""
        self.tracing.trace(fake_tracing.lines(recorder.time.monotonic(), regions, target))

    def pause(self, seconds: float) -> None:
        assert seconds <= recorder.POLL_SECONDS
        self.pauses += 1
        self.step()


@pytest.fixture
def kernel(monkeypatch: Any, tmp_path: Path) -> Kernel:
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    found = Kernel(
        fake_damon.install(monkeypatch, tmp_path), fake_tracing.install(monkeypatch, tmp_path)
    )
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=found.pause)
    monkeypatch.setattr(recorder, "time", clock)
    write = damon.write_once

    def write_and_trace(path: str, text: str) -> None:
        write(path, text)
        if path == damon.STATE and text == "on":
            found.start()

    monkeypatch.setattr(damon, "write_once", write_and_trace)
    return found


def untouched(kernel: Kernel) -> bool:
    """Return whether DAMON and tracefs are as they were before."""
    return not (kernel.damon.running() or damon.kdamonds() or kernel.tracing.instance.exists())


def test_a_process_is_recorded_and_drawn(
    kernel: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, picture = tmp_path / "heat.json", tmp_path / "heat.svg"
    options = ("--pid", OWN, "--for", "50ms", "--json", str(out), "--plot", str(picture))
    assert run("heatmap", *options) == 0
    assert f"process {OWN}" in capsys.readouterr().out
    record = records.read(out)
    assert record.snapshots[0].regions == tuple(REGIONS)
    assert record.processes[0].pid == os.getpid() and record.processes[0].mapped
    assert f"process {OWN}" in picture.read_text()
    assert kernel.damon.commands == ["on", "off"] and untouched(kernel)
    # Monitoring alone: DAMON has no scheme to run.
    assert (f"{damon.KDAMONDS}/0/contexts/0/schemes/nr_schemes", "0") in kernel.damon.written


def test_a_stored_map_is_shown_again(
    kernel: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "heat.json"
    path.write_text(json.dumps(records.document(made_up_heat.record())))
    assert run("heatmap", str(path)) == 0
    shown = capsys.readouterr().out
    assert "process 12 (made-up)" in shown and "█" in shown
    assert not kernel.damon.written


def test_json_on_stdout_is_alone(kernel: Kernel, capfd: pytest.CaptureFixture[str]) -> None:
    terminal.stderr.cache_clear()
    assert run("heatmap", "--json", "-", "--", "sh", "-c", "echo said") == 0
    printed = capfd.readouterr()
    assert records.from_document(json.loads(printed.out), "-").snapshots
    assert "said" in printed.err


def test_a_command_is_recorded_until_it_ends_and_has_its_status(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("heatmap", "--", "sh", "-c", "exit 3") == 3
    assert run("heatmap", "--", "sh", "-c", "kill -9 $$") == 128 + 9
    assert "sh -c 'exit 3'" in capsys.readouterr().out
    assert untouched(kernel)


def test_a_recording_that_ends_first_ends_the_command(
    kernel: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = tmp_path / "pid"
    script = f"sleep 1000 & echo $! >{pid}; wait"

    def interrupt() -> None:
        kernel.trace()
        if pid.exists() and pid.read_text():
            raise KeyboardInterrupt

    kernel.step = interrupt
    assert run("heatmap", "--", "sh", "-c", script) == 0
    assert "which was stopped" in capsys.readouterr().err
    while processes.is_running(int(pid.read_text())):
        pass
    assert untouched(kernel)


def test_new_processes_are_followed(kernel: Kernel, monkeypatch: Any, tmp_path: Path) -> None:
    found = [[10], [10, 11], [11, 10], [10]]
    seen: list[list[int]] = []

    def tree(_: int) -> list[int]:
        seen.append(found[min(len(seen), len(found) - 1)])
        return seen[-1] if len(seen) < 6 else []

    def trace() -> None:
        for target in range(len(damon.kdamonds()[0].target.pids)):  # type: ignore[union-attr]
            kernel.trace([(4096 * (target + 1), 1 << 20, 1)], target)

    monkeypatch.setattr(processes, "tree", tree)
    kernel.start, kernel.step = lambda: None, trace
    out = tmp_path / "heat.json"
    assert run("heatmap", "--pid", "10", "--json", str(out)) == 0
    record = records.read(out)
    assert [one.pid for one in record.processes] == [10, 11]
    assert [one.process for one in record.snapshots] == [0, 0, 1, 0, 1, 0, 0]
    # The order of targets that stay does not change.
    assert kernel.damon.commands == ["on", "commit", "commit", "off"]


@pytest.fixture
def two_tiers(kernel: Kernel, monkeypatch: Any) -> Kernel:
    """A kernel that lets DAMON see physical memory of two tiers."""
    monkeypatch.setattr(damon, "physical_memory", lambda: damon.Physical(((0, 64 << 20),)))
    monkeypatch.setattr(tiers, "of_system", lambda _: list(made_up_heat.physical().memory))
    kernel.step = lambda: kernel.trace([(0, 16 << 20, 3), (16 << 20, 64 << 20, 0)])
    return kernel


def test_physical_memory_has_its_tiers(
    two_tiers: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("heatmap", "--physical", "--for", "50ms") == 0
    printed = capsys.readouterr()
    assert "node 1, slow" in printed.out and "node 0, fast" in printed.out
    assert (f"{damon.KDAMONDS}/0/contexts/0/operations", "paddr") in two_tiers.damon.written
    # This kernel has no /proc/kpageflags.
    assert "kinds of pages are not known: /proc/kpageflags" in printed.err
    assert "kind of most pages" not in printed.out


def test_physical_memory_has_its_kinds_of_pages(
    two_tiers: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anonymous, slab = 1 << 12, 1 << 7
    flags = array("Q", [anonymous] * 1024 + [slab] * (16384 - 1024))
    (tmp_path / "proc").mkdir(exist_ok=True)
    (tmp_path / kinds.FLAGS.lstrip("/")).write_bytes(flags.tobytes())
    out = tmp_path / "heat.json"
    assert run("heatmap", "--physical", "--for", "50ms", "--json", str(out)) == 0
    record = records.read(out)
    assert kinds.shares(record.kinds) == {"anonymous": 1 / 16, "slab": 15 / 16}
    assert {one.end - one.start for one in record.kinds} == {kinds.PIECE_BYTES}
    printed = capsys.readouterr()
    assert "kinds of pages are not known" not in printed.err
    assert "A anonymous 6.2 %, S slab 94 %" in printed.out


def test_kinds_of_pages_are_read_before_the_command_is_ended(
    two_tiers: Kernel, monkeypatch: Any
) -> None:
    # Its memory would be free otherwise.
    events: list[str] = []
    end = command._end
    monkeypatch.setattr(kinds, "of_system", lambda _: events.append("kinds") or ())
    monkeypatch.setattr(command, "_end", lambda process: events.append("end") or end(process))
    assert run("heatmap", "--physical", "--for", "50ms", "--", "sleep", "1000") == 0
    assert events == ["kinds", "end"]


def test_ctrl_c_ends_the_recording_and_draws_what_there_is(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        kernel.trace()
        raise KeyboardInterrupt

    kernel.step = interrupt
    assert run("heatmap", "--pid", OWN, "--for", "1h") == 0
    assert f"process {OWN}" in capsys.readouterr().out
    assert untouched(kernel)


def test_an_error_restores_everything(kernel: Kernel) -> None:
    def fail() -> None:
        raise RuntimeError

    kernel.step = fail
    with pytest.raises(RuntimeError):
        run("heatmap", "--pid", OWN)
    assert untouched(kernel)


def test_a_recording_without_a_snapshot_is_an_error(kernel: Kernel) -> None:
    kernel.start = kernel.step = lambda: None
    with pytest.raises(KlocError, match="DAMON saw nothing") as error:
        run("heatmap", "--pid", OWN, "--for", "10ms")
    assert "--aggregation" in str(error.value.hint)
    assert untouched(kernel)


def test_a_process_that_is_gone_is_an_error(kernel: Kernel) -> None:
    kernel.damon.refused[damon.STATE] = 22
    with pytest.raises(KlocError, match="DAMON refused to monitor process 12"):
        run("heatmap", "--pid", "12")
    assert untouched(kernel)


def test_damon_of_others_is_left_alone(kernel: Kernel) -> None:
    kernel.damon.start_others()
    with pytest.raises(KlocError, match="DAMON is in use"):
        run("heatmap", "--pid", OWN)
    assert not kernel.damon.written and kernel.tracing.made == 0


def test_a_command_that_does_not_exist_is_an_error(kernel: Kernel) -> None:
    with pytest.raises(KlocError, match="cannot execute /no/such"):
        run("heatmap", "--", "/no/such")
    assert untouched(kernel)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--pid", "OWN"], "process OWN (NAME), until it ends, or Ctrl-C; "),
        (["--physical", "--for", "2s"], "all memory, for 2 s; "),
        (["--", "true", "a b"], "true 'a b', until it ends, or Ctrl-C; "),
        (["--physical", "--", "true"], "all memory during true, until it ends, or Ctrl-C; "),
    ],
)
def test_a_dry_run_prints_what_would_be_recorded(
    argv: list[str], expected: str, kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    # Test processes must collect the same names, so these have no process number.
    argv, expected = [word.replace("OWN", OWN) for word in argv], expected.replace("OWN", OWN)
    assert run("heatmap", "--dry-run", "--sampling", "1ms", *argv) == 0
    printed = capsys.readouterr().out
    expected = expected.replace("NAME", processes.name(os.getpid()))
    assert printed == f"{expected}sampling and aggregation: 1ms, 100ms\n"
    assert not kernel.damon.written and kernel.tracing.made == 0


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--pid", "2147483647"], "process 2147483647 does not exist"),
        (["--", "/no/such"], "cannot execute /no/such"),
    ],
)
def test_a_dry_run_refuses_what_the_recording_would_refuse(
    argv: list[str], words: str, kernel: Kernel
) -> None:
    with pytest.raises(KlocError, match=words):
        run("heatmap", "--dry-run", *argv)
    kernel.damon.start_others()
    with pytest.raises(KlocError, match="DAMON is in use"):
        run("heatmap", "--dry-run", "--pid", OWN)
    with pytest.raises(UsageError, match="nothing is run"):
        run("heatmap", "--dry-run", "a.json")


def test_without_packages_only_json_is_possible(kernel: Kernel, monkeypatch: Any) -> None:
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(command.environment, "is_installed", lambda: False)
    with pytest.raises(KlocError, match="numpy") as error:
        run("heatmap", "--pid", OWN, "--for", "10ms")
    assert "--json -" in str(error.value.hint)
    assert run("heatmap", "--pid", OWN, "--for", "10ms", "--json", "-") == 0


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "name one thing"),
        (["--pid", "1", "a.json"], "name one thing"),
        (["--pid", "1", "--", "true"], "name one thing"),
        (["--"], "no command after"),
        (["--physical", "--pid", "1"], "all memory"),
        (["a.json", "--for", "1s"], "--for is for a process"),
        (["redis", "--for", "1s"], "--for is for a process"),
        (["a.json", "--regions", "10-20"], "only shown"),
        (["a.json", "--physical"], "all memory"),
        (["--pid", "1", "--policy", "tpp", "--seed", "0"], "--policy, --seed: this is for"),
        (["a.json", "--quick"], "--quick: this is for"),
        (["redis", "--pid", "1"], "name one thing"),
        (["--pid", "1", "--sampling", "1s"], "--sampling is above"),
    ],
)
def test_wrong_combinations_are_errors(argv: list[str], words: str, kernel: Kernel) -> None:
    with pytest.raises(UsageError, match=words):
        run("heatmap", *argv)
    assert untouched(kernel)


def test_wrong_values_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("heatmap", "--pid", "1", "--parts", "0")
    assert "'0'" in capsys.readouterr().err
    with pytest.raises(KlocError, match=r"plots are \.svg or \.png"):
        run("heatmap", "--pid", "1", "--plot", "a.gif")
