# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

import json
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
from kloc.machine.agent import Agent
from kloc.machine.guest_console import CONSOLE_TAIL, CRASH, telling
from kloc.machine.job import Job, Raw
from kloc.machine.job_image import write_job_image
from kloc.machine.memory import PAGE_INSTRUCTIONS, PAGE_TIME, SharedMemory
from kloc.machine.model_config import LIVE, model_config
from kloc.machine.parts import Parts
from kloc.machine.qemu import qemu_arguments

# A machine hangs if it executes nothing for so many seconds of the host's, or
# if one stage lasts so many seconds of its own time, or of the host's.
STUCK_SECONDS = 120
STAGE_MACHINE_SECONDS = 900
STAGE_HOST_SECONDS = 3600


class RunFailed(KlocError):
    """A run gave no figures: the guest crashed or hung, or the workload failed."""


class Machine:
    """One machine that runs one job; a context manager, so that QEMU never outlives it."""

    def __init__(self, job: Job, parts: Parts, folder: Path) -> None:
        """Prepare the run's files in `folder`, which is the run's own."""
        self.job = job
        self.parts = parts
        self.folder = folder
        self.stage = "boot"
        self.console = folder / "console"
        self.frames: dict[str, str] = {}
        self._agent = Agent(folder / "agent")
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = SharedMemory(job.profile)
        self._stage_since = (time.monotonic(), 0)
        self._moved = (time.monotonic(), -1)

    def __enter__(self) -> Machine:
        """Start QEMU."""
        self.console.touch()
        write_job_image(self.job, self.parts, self.folder / "job.img")
        (self.folder / "model.conf").write_text(
            model_config(self.job, self.folder, self._memory.files)
        )
        argv = self.command()
        (self.folder / "command").write_text(shlex.join(argv) + "\n")
        terminal = None if self.job.shell else subprocess.DEVNULL
        errors = None if self.job.shell else (self.folder / "qemu.log").open("wb")
        self._process = subprocess.Popen(
            argv,
            stdin=terminal,
            stdout=terminal,
            stderr=errors,
            pass_fds=self._memory.fds,
            start_new_session=not self.job.shell,
        )
        if errors:
            errors.close()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop QEMU if it still runs, and give its memory back."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._memory.close()

    def command(self) -> list[str]:
        """Return the argv that starts this machine."""
        data = data_image(self.parts.root, self.job.profile.storage.capacity)
        images = [self.parts.image.path, self.folder / "job.img", data]
        argv = qemu_arguments(self.job, self.parts, self.folder, self._memory.files, images)
        return self.parts.root.command(
            ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", *argv],
            binds=[cache.directory(), self.folder],
            cwd=self.folder,
        )

    @property
    def instructions(self) -> int:
        """Instructions executed so far."""
        return self._memory.word(PAGE_INSTRUCTIONS)

    @property
    def seconds(self) -> float:
        """The machine's own time so far, in seconds."""
        return self._memory.word(PAGE_TIME) / 1e9

    def live(self) -> Mapping[str, Any] | None:
        """Return what the region has come to, as machine/plugin/live.c writes it; None before.

        It is at most a second old, and whole. Needs the job's `follow`.
        """
        try:
            content: Mapping[str, Any] = json.loads((self.folder / LIVE).read_text())
        except FileNotFoundError:
            return None
        return content

    def step(self) -> Raw | None:
        """Look at the machine; return what it left once it is done, None while it runs.

        Raises RunFailed, with what its console tells, if it crashed or hangs.
        """
        assert self._process is not None
        ended = self._process.poll()
        self._listen()
        if ended is None:
            self._check_progress()
            return None
        if self.job.shell:
            self._check_shell(ended)
            return Raw(self.frames, {}, None, "")
        console = self.console.read_text(errors="replace")
        if CRASH.search(console):
            raise self._failure("the guest's kernel crashed")
        if "failed" in self.frames:
            raise self._failure(self.frames["failed"], self.frames.get("output"))
        if self.frames.get("done") != "complete":
            raise self._failure(f"QEMU ended (status {ended}) in stage {self.stage}")
        if not self.job.modelled:
            return Raw(self.frames, {}, None, console)
        return Raw(self.frames, self._model(), self._pages(), console)

    def _listen(self) -> None:
        for name, body in self._agent.new_frames():
            if name == "stage":
                self.stage = body
                self._stage_since = (time.monotonic(), self._memory.word(PAGE_TIME))
            self.frames[name] = body

    def _check_progress(self) -> None:
        if self.job.shell:
            return
        now, executed = time.monotonic(), self.instructions
        if executed != self._moved[1] or not self.job.modelled:
            self._moved = (now, executed)
        host, machine = self._stage_since
        if now - self._moved[0] > STUCK_SECONDS:
            raise self._failure(
                f"the machine hangs: it executed nothing for {STUCK_SECONDS} s "
                f"in stage {self.stage}"
            )
        if self._memory.word(PAGE_TIME) - machine > STAGE_MACHINE_SECONDS * 1e9:
            raise self._failure(
                f"the machine hangs: stage {self.stage} lasts over {STAGE_MACHINE_SECONDS} s "
                "of its own time"
            )
        if now - host > STAGE_HOST_SECONDS:
            raise self._failure(f"stage {self.stage} lasts over {STAGE_HOST_SECONDS} s")

    def _check_shell(self, status: int) -> None:
        """Raise RunFailed if there was no shell; its console is the terminal, and told it all."""
        reason = self.frames.get("failed")
        if reason is None and status != 0:
            reason = f"QEMU ended (status {status})"
        if reason is not None:
            raise RunFailed(
                f"{self.job.name}: {reason}",
                f"what it said is above; the machine's command line is in {self.folder}/command",
            )

    def _failure(self, reason: str, output: str | None = None) -> RunFailed:
        log = self.folder / "qemu.log"
        errors = log.read_text(errors="replace") if log.exists() else ""
        if output:
            told = last_lines((output + errors).strip(), CONSOLE_TAIL)
        else:
            told = telling(self.console.read_text(errors="replace") + errors)
        lines = "\n".join("    " + line.rstrip() for line in told.splitlines())
        return RunFailed(
            f"{self.job.name}: {reason}\n{lines or '    (its console is empty)'}",
            f"the whole console is in {self.console}",
        )

    def _model(self) -> Mapping[str, Any]:
        path = self.folder / "model.json"
        try:
            report: Mapping[str, Any] = json.loads(path.read_text())
            region: Mapping[str, Any] = report["regions"][0]
        except (OSError, ValueError, LookupError) as error:
            raise self._failure(
                f"the timing model left no report of the measured region ({error})"
            ) from error
        return region

    def _pages(self) -> bytes | None:
        path = self.folder / "pages.bin"
        return path.read_bytes() if self.job.frames else None


def run(job: Job, parts: Parts, watch: Callable[[Machine], None] = lambda machine: None) -> Raw:
    """Run one job to its end and return what it left; `watch` sees the machine now and then."""
    with cache.scratch(job.name) as folder, Machine(job, parts, folder) as machine:
        while (raw := machine.step()) is None:
            watch(machine)
            time.sleep(0.1)
        return raw


@contextmanager
def started(job: Job, parts: Parts) -> Iterator[Machine]:
    """Give a machine that runs `job`, in a scratch folder of its own."""
    with cache.scratch(job.name) as folder, Machine(job, parts, folder) as machine:
        yield machine
