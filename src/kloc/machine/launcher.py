# SPDX-License-Identifier: GPL-2.0
"""Starts a machine for a job in QEMU, watches it and returns its output.

`run` runs one job to its end. `started` gives a `Machine` that the caller steps, so that one
process can watch several machines.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.build.data_image import data_image
from kloc.build.root import last_lines
from kloc.machine import inputs
from kloc.machine.agent import Agent
from kloc.machine.guest_console import CONSOLE_TAIL, CRASH, excerpt
from kloc.machine.job import Job, Raw
from kloc.machine.job_image import write_job_image
from kloc.machine.memory import SharedMemory
from kloc.machine.model_config import LIVE, model_config
from kloc.machine.parts import Parts
from kloc.machine.qemu import ENVIRONMENT, qemu_arguments

STUCK_SECONDS = 120
"""A machine hangs if it executes no instruction for this long, in the host's time."""

STAGE_MACHINE_SECONDS = 900
"""A machine hangs if one stage takes longer than this in simulated time."""

STAGE_HOST_SECONDS = 3600
"""A stage that takes longer than this in the host's time is stopped."""

POLL_SECONDS = 0.1

JOB_IMAGE = "job.img"
"""The file in a run's directory that is the disk with the job."""


MEASURED_FAILED = re.compile(r"measured ended with status (\d+)")
"""What the agent says if the script in the measured region fails."""


class RunFailed(KlocError):
    """A run without a result: the guest crashed or hung, or the workload failed.

    `measured` is the exit status of the script in the measured region, None if it did not fail.
    """

    measured: int | None = None


def run(job: Job, parts: Parts, watch: Callable[[Machine], None] = lambda machine: None) -> Raw:
    """Run the job to its end and return its output. Call `watch` several times a second.

    Raises RunFailed if the run fails.
    """
    with started(job, parts) as machine:
        while (raw := machine.step()) is None:
            watch(machine)
            time.sleep(POLL_SECONDS)
        return raw


def inputs_of(job: Job, parts: Parts) -> dict[str, str]:
    """Return the inputs that a run of the job would have, without running it."""
    with cache.scratch(job.name) as directory:
        write_job_image(job, parts, directory / JOB_IMAGE)
        return inputs.of_run(job, parts, directory / JOB_IMAGE, data_disk(job, parts))


def data_disk(job: Job, parts: Parts) -> Path:
    """Return the image of the disk on /data: the job's own, or an empty one."""
    return job.disk or data_image(parts.root, job.profile.storage.capacity)


@contextmanager
def started(job: Job, parts: Parts) -> Iterator[Machine]:
    """Give a machine that runs the job, with a scratch directory of its own."""
    with cache.scratch(job.name) as directory, Machine(job, parts, directory) as machine:
        yield machine


class Machine:
    """A machine that runs one job. As a context manager, it starts QEMU and always ends it."""

    def __init__(self, job: Job, parts: Parts, directory: Path) -> None:
        """Allocate the machine's memory. The run's files go to `directory`."""
        self.job = job
        self.parts = parts
        self.directory = directory
        self.stage = "boot"
        self.console = directory / "console"
        self.frames: dict[str, str] = {}
        self._agent = Agent(directory / "agent")
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = SharedMemory(job.profile, job.fast_frames)
        # When the stage began: the host's time in seconds, simulated time in ns.
        self._stage_begin = (time.monotonic(), 0)
        # When the machine last made progress (the host's time), and its instructions until then.
        self._progress = (time.monotonic(), -1)

    def __enter__(self) -> Machine:
        """Write the run's files and start QEMU."""
        self.console.touch()
        write_job_image(self.job, self.parts, self.directory / JOB_IMAGE)
        config = model_config(self.job, self.directory, self._memory.files)
        (self.directory / "model.conf").write_text(config)
        argv = self.command()
        (self.directory / "command").write_text(shlex.join(argv) + "\n")
        if self.job.shell:
            self._process = subprocess.Popen(argv, pass_fds=self._memory.fds)
            return self
        with (self.directory / "qemu.log").open("wb") as log:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=self._memory.fds,
                start_new_session=True,
            )
        return self

    def command(self) -> list[str]:
        """Return the command line that starts QEMU for this machine."""
        data = data_disk(self.job, self.parts)
        images = [self.parts.image.path, self.directory / JOB_IMAGE, data]
        argv = qemu_arguments(self.job, self.parts, self.directory, self._memory.files, images)
        return self.parts.root.command(
            ["setpriv", "--pdeathsig", "KILL", str(self.parts.qemu.program), *argv],
            binds=[cache.directory(), *self.parts.qemu.binds, data.parent, self.directory],
            cwd=self.directory,
            env=ENVIRONMENT,
        )

    def __exit__(self, *_: object) -> None:
        """Kill QEMU if it still runs, and return the machine's memory to the host."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._memory.close()

    def step(self) -> Raw | None:
        """Check the machine once. Return its output if it has ended, None if it still runs.

        Raises RunFailed, with an excerpt of the console, if the run failed or the machine hangs.
        """
        assert self._process is not None
        status = self._process.poll()
        self._receive_frames()
        if status is not None:
            return self._shell_output(status) if self.job.shell else self._output(status)
        if not self.job.shell:
            self._check_progress()
        return None

    def _receive_frames(self) -> None:
        """Add the agent's new frames; one called stage begins a stage."""
        for name, body in self._agent.new_frames():
            if name == "stage":
                self.stage = body
                self._stage_begin = (time.monotonic(), self._memory.time_ns)
            self.frames[name] = body

    def _check_progress(self) -> None:
        """Raise RunFailed if the machine hangs, or its stage takes too long."""
        now, executed = time.monotonic(), self.instructions
        # Without the timing model, nothing counts instructions.
        if executed != self._progress[1] or not self.job.modelled:
            self._progress = (now, executed)
        host_begin, simulated_begin = self._stage_begin
        if now - self._progress[0] > STUCK_SECONDS:
            raise self.failure(
                f"the machine hangs: it executed nothing for {STUCK_SECONDS} s "
                f"in stage {self.stage}"
            )
        if self._memory.time_ns - simulated_begin > STAGE_MACHINE_SECONDS * 1e9:
            raise self.failure(
                f"the machine hangs: stage {self.stage} lasts over {STAGE_MACHINE_SECONDS} s "
                "of simulated time"
            )
        if now - host_begin > STAGE_HOST_SECONDS:
            raise self.failure(
                f"stage {self.stage} lasts over {STAGE_HOST_SECONDS} s of the host's time"
            )

    def _shell_output(self, status: int) -> Raw:
        """Return the output of a shell whose QEMU ended with `status`.

        Raises RunFailed if the shell did not start, or QEMU failed. The console is the terminal,
        which shows all messages already.
        """
        reason = self.frames.get("failed")
        if reason is None and status != 0:
            reason = f"QEMU ended (status {status})"
        if reason is not None:
            raise RunFailed(
                f"{self.job.name}: {reason}",
                f"its messages are above; QEMU's command line is in {self.directory}/command",
            )
        return Raw(self.frames, {}, None, "")

    def _output(self, status: int) -> Raw:
        """Return the output of a job whose QEMU ended with `status`; raise RunFailed if it failed.

        A crash comes first, because other errors can follow from it.
        """
        console = self.console.read_text(errors="replace")
        if CRASH.search(console):
            raise self.failure("the guest's kernel crashed")
        if "failed" in self.frames:
            failed = self.failure(self.frames["failed"], self.frames.get("output"))
            if found := MEASURED_FAILED.fullmatch(self.frames["failed"]):
                failed.measured = int(found[1])
            raise failed
        if self.frames.get("done") != "complete":
            raise self.failure(f"QEMU ended (status {status}) in stage {self.stage}")
        if not self.job.modelled or self.job.prepares:
            return Raw(self.frames, {}, None, console)
        warm_up, measured = self._model_report()
        made_from = inputs.of_run(
            self.job, self.parts, self.directory / JOB_IMAGE, data_disk(self.job, self.parts)
        )
        return Raw(self.frames, measured, self._page_frames(), console, warm_up, made_from)

    def _model_report(self) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
        """Return the timing model's report of the warm-up, if any, and of the measured region."""
        try:
            report: Mapping[str, Any] = json.loads((self.directory / "model.json").read_text())
            regions: Mapping[str, Any] = {region["name"]: region for region in report["regions"]}
            measured = {**regions["measured"], "layout_known": report["layout_known"]}
        except (OSError, ValueError, LookupError) as error:
            raise self.failure(
                f"the timing model wrote no report of the measured region ({error})"
            ) from error
        return regions.get("warm-up"), measured

    def _page_frames(self) -> bytes | None:
        """Return the timing model's per-frame file, None if the job does not ask for it."""
        return (self.directory / "pages.bin").read_bytes() if self.job.frames else None

    def failure(self, reason: str, output: str | None = None) -> RunFailed:
        """Return the error for a failed run, with an excerpt of `output` (default: the console)."""
        log = self.directory / "qemu.log"
        errors = log.read_text(errors="replace") if log.exists() else ""
        if output is not None:
            empty = "(it printed nothing)"
            shown = last_lines((output + errors).strip(), CONSOLE_TAIL)
        else:
            empty = "(its console is empty)"
            shown = excerpt(self.console.read_text(errors="replace") + errors)
        lines = "\n".join("    " + line.rstrip() for line in (shown or empty).splitlines())
        return RunFailed(
            f"{self.job.name}: {reason}\n{lines}",
            f"the whole console is in {self.console}",
        )

    @property
    def pid(self) -> int:
        """The process of QEMU."""
        assert self._process is not None
        return self._process.pid

    @property
    def instructions(self) -> int:
        """Instructions executed so far."""
        return self._memory.instructions

    @property
    def seconds(self) -> float:
        """Simulated time so far, in seconds."""
        return self._memory.time_ns / 1e9

    def live(self) -> Mapping[str, Any] | None:
        """Return the totals of the measured region so far, None before it begins.

        The timing model (machine/plugin/live.c) replaces them atomically once a second of the
        host's time. Requires the job's `follow`.
        """
        try:
            totals: Mapping[str, Any] = json.loads((self.directory / LIVE).read_text())
        except FileNotFoundError:
            return None
        return totals
