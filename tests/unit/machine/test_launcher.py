# SPDX-License-Identifier: GPL-2.0
"""Machines whose QEMU is replaced by a shell script: their output, and how they fail."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kloc.machine import launcher
from kloc.machine.job import Job, Raw
from kloc.machine.launcher import Machine, RunFailed
from kloc.machine.parts import Parts

Start = Callable[..., Any]
COMPLETE = {"measured": "12\n", "done": "complete"}
INPUTS = {"kernel": "0123456789abcdef"}


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_job: Callable[..., Job]) -> Start:
    """A function that starts a machine in `tmp_path` whose QEMU is a shell script.

    The script sends the agent's frames `sent`, then runs `then`. Other arguments are the job's.
    """
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))
    monkeypatch.setattr(launcher, "data_image", lambda *_: image)
    monkeypatch.setattr(launcher.inputs, "of_run", lambda *_: INPUTS)
    monkeypatch.setattr(launcher, "write_job_image", lambda _, __, path: path.touch())

    @contextmanager
    def started(sent: Mapping[str, str], then: str = "exit 0", **changes: Any) -> Iterator[Machine]:
        frames = [f"@kloc {name} {len(body)}\n{body}\n" for name, body in sent.items()]
        (tmp_path / "sent").write_text("".join(frames))
        script = f"cd {tmp_path} && cat sent >>agent && {then}"
        parts = SimpleNamespace(
            root=SimpleNamespace(command=lambda *_, **__: ["sh", "-c", script]),
            image=SimpleNamespace(path=image),
            kernel=SimpleNamespace(image=Path("/vmlinux"), initramfs=None),
            plugin=Path("/model.so"),
            qemu=SimpleNamespace(program=Path("/qemu"), binds=[]),
        )
        with Machine(make_job(**changes), cast(Parts, parts), tmp_path) as machine:
            yield machine

    return started


def finish(machine: Machine) -> Raw:
    """Step the machine until it has ended, and return its output."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if raw := machine.step():
            return raw
        time.sleep(0.01)
    raise AssertionError("the machine did not end")


def failure(machine: Machine) -> tuple[str, str]:
    """Step the machine until it fails, and return the error's message and hint."""
    with pytest.raises(RunFailed) as failed:
        finish(machine)
    return failed.value.message, failed.value.hint or ""


def write_file(name: str, text: str) -> str:
    """Return shell code that writes a file in the run's directory."""
    return f"printf %s '{text}' >{name}"


def test_measured_job_returns_frames_report_and_console(start: Start) -> None:
    regions = '[{"name": "warm-up"}, {"name": "measured", "walks": 3}]'
    report = write_file("model.json", f'{{"regions": {regions}, "layout_known": true}}')
    with start(COMPLETE, f"{report} && {write_file('console', 'booted')}") as machine:
        measured = {"name": "measured", "walks": 3, "layout_known": True}
        warm_up = {"name": "warm-up"}
        assert finish(machine) == Raw(COMPLETE, measured, None, "booted", warm_up, INPUTS)


def test_job_with_frames_returns_the_per_frame_file(start: Start) -> None:
    report = write_file("model.json", '{"regions": [{"name": "measured"}], "layout_known": true}')
    with start(COMPLETE, f"{report} && {write_file('pages.bin', 'x')}", frames=True) as machine:
        assert finish(machine).pages == b"x"


def test_job_without_the_model_needs_no_report(start: Start) -> None:
    with start(COMPLETE, modelled=False) as machine:
        assert finish(machine).model == {}


def test_job_that_prepares_a_disk_needs_no_report(start: Start, tmp_path: Path) -> None:
    with start(COMPLETE, scripts={"prepare": "true\n"}, disk=tmp_path / "image") as machine:
        assert finish(machine).model == {}


def test_files_of_a_run_are_kept_in_its_directory(start: Start, tmp_path: Path) -> None:
    with start({}, "sleep 60") as machine:
        assert machine.step() is None
    assert "ns_per_instruction" in (tmp_path / "model.conf").read_text()
    assert (tmp_path / "command").read_text().startswith("sh -c")
    assert (tmp_path / "job.img").exists() and (tmp_path / "qemu.log").exists()


def test_missing_report_of_the_model_fails_the_run(start: Start) -> None:
    with start(COMPLETE) as machine:
        assert "the timing model wrote no report" in failure(machine)[0]


def test_crash_comes_before_its_consequences(start: Start, tmp_path: Path) -> None:
    script = write_file("console", "booting\nOops: null pointer\nend")
    with start({"failed": "measured ended with status 1"}, script) as machine:
        message, hint = failure(machine)
    assert message.splitlines() == [
        "w: the guest's kernel crashed",
        "    Oops: null pointer",
        "    end",
    ]
    assert hint == f"the whole console is in {tmp_path}/console"


def test_failed_script_shows_its_output(start: Start) -> None:
    frames = {"output": "no such file\n", "failed": "measured ended with status 3"}
    with start(frames) as machine:
        message, _ = failure(machine)
    assert message.splitlines() == ["w: measured ended with status 3", "    no such file"]


def test_failed_script_without_output_shows_no_console(start: Start) -> None:
    frames = {"output": "", "failed": "measured ended with status 3"}
    with start(frames, write_file("console", "booted")) as machine:
        message, _ = failure(machine)
    assert message.splitlines()[1:] == ["    (it printed nothing)"]


@pytest.mark.parametrize(
    ("reason", "status"),
    [("measured ended with status 3", 3), ("setup ended with status 3", None)],
)
def test_status_of_the_measured_script_is_that_of_the_error(
    reason: str, status: int | None, start: Start
) -> None:
    with start({"failed": reason}) as machine, pytest.raises(RunFailed) as failed:
        finish(machine)
    assert failed.value.measured == status


def test_killed_qemu_fails_the_run_in_its_stage(start: Start) -> None:
    with start({"stage": "measured"}, "echo no memory >&2; kill -9 $$") as machine:
        message, _ = failure(machine)
    assert "QEMU ended (status -9) in stage measured" in message
    assert "no memory" in message


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("STUCK_SECONDS", "the machine hangs: it executed nothing"),
        ("STAGE_HOST_SECONDS", "stage setup lasts over"),
        ("STAGE_MACHINE_SECONDS", "the machine hangs: stage setup lasts over"),
    ],
)
def test_machine_that_makes_no_progress_fails(
    limit: str, reason: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Less than no time: simulated time stands still here.
    monkeypatch.setattr(launcher, limit, -1)
    with start({"stage": "setup"}, "sleep 60") as machine:
        while machine.stage != "setup":
            with suppress(RunFailed):
                machine.step()
        assert reason in failure(machine)[0]


def test_leaving_the_machine_ends_qemu(start: Start, tmp_path: Path) -> None:
    with start({"stage": "setup"}, "echo $$ >pid; exec sleep 60") as machine:
        while machine.stage != "setup" or not (tmp_path / "pid").exists():
            machine.step()
        time.sleep(0.1)
        pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_totals_of_a_followed_job_are_read_while_it_runs(start: Start, tmp_path: Path) -> None:
    with start({}, "sleep 60", follow=True) as machine:
        assert machine.live() is None
        (path,) = re.findall("^live=(.*)$", (tmp_path / "model.conf").read_text(), re.M)
        Path(path).write_text('{"promoted": 3}')
        assert machine.live() == {"promoted": 3}


@pytest.mark.parametrize("frames", [{"stage": "boot", "done": "ended"}, {"stage": "boot"}])
def test_shell_may_end_in_any_way(frames: Mapping[str, str], start: Start) -> None:
    # The user can also stop QEMU from its terminal.
    with start(frames, name="shell", shell=True) as machine:
        assert finish(machine) == Raw(frames, {}, None, "")


@pytest.mark.parametrize(
    ("frames", "script", "reason"),
    [
        ({"failed": "the kernel has no /x", "done": "failed"}, "exit 0", "the kernel has no /x"),
        ({}, "exit 1", "QEMU ended (status 1)"),
        ({"stage": "boot"}, "kill -9 $$", "QEMU ended (status -9)"),
    ],
)
def test_shell_that_fails_to_start_is_an_error(
    frames: Mapping[str, str], script: str, reason: str, start: Start, tmp_path: Path
) -> None:
    with start(frames, script, name="shell", shell=True) as machine:
        message, hint = failure(machine)
    assert message == f"shell: {reason}"
    assert f"{tmp_path}/command" in hint


def test_run_watches_the_machine_until_it_ends(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = []
    with start(COMPLETE, "sleep 0.3", modelled=False) as machine:
        monkeypatch.setattr(launcher, "started", lambda *_: nullcontext(machine))
        raw = launcher.run(machine.job, machine.parts, lambda one: stages.append(one.stage))
    assert raw.frames == COMPLETE
    assert stages and set(stages) == {"boot"}
