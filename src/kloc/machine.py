# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import shlex
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc import cache, guest, inside, kernel, plugin, programs
from kloc.errors import KlocError
from kloc.profile import Profile, Tier
from kloc.root import Root, last_lines, tool_root

PAGE_BYTES = 1 << 20
# The DMA zone would be 8 % of fast memory, always free, and make kswapd believe
# that there is room; on a server it is nothing. It is left out: node 0 has so
# much more memory, and the kernel may not use it.
DMA_ZONE = 16 << 20
TIERS = ("fast", "slow")
# In a run's folder: what the model writes while the region is in progress.
LIVE = "live.json"
DATA_UUID = "6b6c6f63-0000-4000-8000-000000000001"
# Offsets in struct kloc_machine_page of what the launcher shows as progress.
PAGE_INSTRUCTIONS, PAGE_TIME = 48, 56
# How often the model samples the pages for a result's time series.
SAMPLE_NS = 5_000_000
# Enough for two threads to get in each other's way.
UNMODELLED_CPUS = 2
# A machine hangs if it executes nothing for so many seconds of the host's, or
# if one stage lasts so many seconds of its own time, or of the host's.
STUCK_SECONDS = 120
STAGE_MACHINE_SECONDS = 900
STAGE_HOST_SECONDS = 3600
CONSOLE_TAIL = 25
# The guest's clock counts its instructions, 1 ns each. QEMU records, to nowhere, as a precaution:
# its main loop and the guest then take turns, so that it cannot see that the guest idles before the
# instructions until then are counted. Whether it is needed is not known.
EXACT = (
    *("-accel", "tcg,thread=single"),
    *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null"),
)
FRAME = re.compile(rb"@kloc (\w+) (\d+)\n")
CRASH = re.compile(r"Kernel panic|\bBUG: |\bOops: |general protection fault")
WARNING = re.compile(r"WARNING: |INFO: (?:rcu|task)")


class RunFailed(KlocError):
    """A run gave no figures: the guest crashed or hung, or the workload failed."""


@dataclass(frozen=True)
class Job:
    """What runs in a machine, and which.

    `settings` are files of the guest and what is written to them; `scripts` are
    the agent's steps (setup, measured, check); `copies` are host paths that are
    found at the same path in the guest. `timing` names the tier that all memory
    is timed as; with `fast_kinds`, pages of these kinds are timed as fast and all others as slow,
    wherever they lie; `frames` asks for the per-frame counts of the oracle.
    `follow` asks for what `Machine.live` gives; `observe` for what pages are used for, which slows
    the host down and changes nothing in the machine.
    `instructions` is about what will be executed, for the time left. With `commands`, kloc's own
    are found in it; its packages are then to have those of kloc.inside.

    Without `modelled` there is no timing model and no figure: two CPUs run in
    the host's own time, which finds what one cannot.
    """

    name: str
    profile: Profile
    scripts: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    timing: str | None = None
    fast_kinds: tuple[str, ...] | None = None
    seed: int = 1
    packages: tuple[str, ...] = ()
    copies: tuple[Path, ...] = ()
    frames: bool = False
    follow: bool = False
    observe: bool = False
    shell: bool = False
    commands: bool = False
    instructions: float = 20e9
    modelled: bool = True


@dataclass(frozen=True)
class Parts:
    """What a machine is made of, built or found in the cache; `programs` are found in its PATH."""

    root: Root
    kernel: kernel.Kernel
    plugin: Path
    image: guest.GuestImage
    programs: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Raw:
    """What a finished run left: the agent's frames, the model's report, the frames' file."""

    frames: Mapping[str, str]
    model: Mapping[str, Any]
    pages: bytes | None
    console: str


def telling(console: str) -> str:
    """Return the CONSOLE_TAIL lines that tell most: from the kernel's crash on, or the last."""
    crash = CRASH.search(console)
    if crash is None:
        return last_lines(console.strip(), CONSOLE_TAIL)
    begin = console.rfind("\n", 0, crash.start()) + 1
    return "\n".join(console[begin:].strip().splitlines()[:CONSOLE_TAIL])


def prepare(packages: Iterable[str], sources: Iterable[Path] = ()) -> Parts:
    """Return the parts of a machine whose guest has `packages`, building what is missing.

    `sources` are C files of programs that it has beside them.
    """
    return Parts(
        tool_root(),
        kernel.build(),
        plugin.build(),
        guest.guest_image(sorted(set(packages))),
        tuple(programs.build(source) for source in sources),
    )


def memory_ranges(profile: Profile) -> list[tuple[int, int, int]]:
    """Return (tier, physical start, bytes) of each node: one piece each, under 4 GiB."""
    split = DMA_ZONE + profile.fast.capacity
    return [(0, 0, split), (1, split, profile.slow.capacity)]


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
        self._agent = folder / "agent"
        self._pending = b""
        self._read = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._memory = _Memory(job.profile)
        self._stage_since = (time.monotonic(), 0)
        self._moved = (time.monotonic(), -1)

    def __enter__(self) -> Machine:
        """Start QEMU."""
        for path in (self.console, self._agent):
            path.touch()
        _write_job(self.job, self.parts, self.folder / "job.img")
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
            binds=[cache.folder(), self.folder],
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
        with self._agent.open("rb") as file:
            file.seek(self._read)
            text = file.read()
        self._read += len(text)
        self._pending += text
        while match := FRAME.search(self._pending):
            end = match.end() + int(match[2])
            if len(self._pending) <= end:
                return
            name, body = (
                match[1].decode(),
                self._pending[match.end() : end].decode(errors="replace"),
            )
            self._pending = self._pending[end + 1 :]
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


def cpus(job: Job) -> int:
    """Return how many CPUs run the job."""
    return 1 if job.modelled else UNMODELLED_CPUS


def hardware(profile: Profile, memory: Mapping[str, str], cpus: int, seed: int) -> list[str]:
    """Return QEMU's arguments for cores and memory; `memory` maps fast and slow to files."""
    total = sum(size for _, _, size in memory_ranges(profile))
    return [
        *("-machine", "pc,hmat=on", "-cpu", "Nehalem", "-smp", str(cpus)),
        *("-m", str(total >> 20), "-seed", str(seed)),
        *("-rtc", "base=2024-01-01,clock=vm", "-nic", "none"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *_numa(profile, memory, cpus),
    ]


def qemu_arguments(
    job: Job, parts: Parts, folder: Path, memory: Mapping[str, str], images: Sequence[Path]
) -> list[str]:
    """Return QEMU's arguments; `memory` maps fast, slow and page to the files that back them."""
    argv = [*EXACT] if job.modelled else ["-accel", "tcg,thread=multi"]
    argv += hardware(job.profile, memory, cpus(job), job.seed)
    argv += [
        "-object",
        f"memory-backend-file,id=page,share=on,mem-path={memory['page']},size={PAGE_BYTES}",
    ]
    argv += ["-device", "ivshmem-plain,memdev=page,addr=4"]
    for number, image in enumerate(images):
        # Private: what the guest writes is gone with the run. The size of a PCI
        # memory region is a power of two, and so are the images'.
        backend = f"memory-backend-file,id=disk{number},share=off,readonly=on,rom=off"
        argv += ["-object", f"{backend},mem-path={image},size={image.stat().st_size}"]
        argv += ["-device", f"ivshmem-plain,memdev=disk{number},addr={5 + number}"]
    if job.modelled:
        argv += ["-plugin", f"{parts.plugin},config={folder / 'model.conf'}"]
    argv += ["-kernel", str(parts.kernel.bzimage), "-append", kernel_command_line(job)]
    if job.shell:
        argv += ["-serial", "mon:stdio"]
    else:
        argv += ["-monitor", "none", "-serial", f"file:{folder / 'console'}"]
    return [*argv, "-serial", f"file:{folder / 'agent'}"]


def kernel_command_line(job: Job) -> str:
    """Return the guest kernel's command line."""
    storage = job.profile.storage
    return " ".join(
        (
            "console=ttyS0 root=/dev/klocdisk0 ro rootfstype=ext4 rootflags=noload init=/kloc/init",
            f"memmap={(DMA_ZONE >> 20) - 1}M$1M",
            # The model reads the kernel's memory where these leave it.
            "nokaslr nopti mitigations=off",
            "tsc=reliable no_timer_check",
            # A slab page is known by its cache's name: no cache serves another's objects.
            "slab_nomerge",
            "panic=-1 panic_on_oops=1 softlockup_panic=1 hung_task_panic=1",
            f"kloc_machine.read_latency_ns={storage.read_latency_us * 1000:.0f}",
            f"kloc_machine.write_latency_ns={storage.write_latency_us * 1000:.0f}",
            f"kloc_machine.read_bytes_per_us={storage.read_bandwidth * 1000:.0f}",
            f"kloc_machine.write_bytes_per_us={storage.write_bandwidth * 1000:.0f}",
            # Mixed into the kernel's random numbers, and so into address layouts.
            f"kloc.seed={job.seed}",
            *(["quiet"] if job.shell else []),
        )
    )


def model_config(job: Job, folder: Path, memory: Mapping[str, str]) -> str:
    """Return the timing model's configuration (machine/plugin/config.c has its keys)."""
    cpu, profile = job.profile.cpu, job.profile
    lines = [
        f"page={memory['page']}",
        f"output={folder / 'model.json'}",
        f"pages={folder / 'pages.bin'}",
        f"dump={int(job.frames)}",
        f"observe={int(job.observe)}",
        f"ns_per_instruction={cpu.ns_per_instruction}",
        f"l1_bytes={cpu.l1}",
        f"l1_ways={cpu.l1_ways}",
        f"llc_bytes={cpu.llc}",
        f"llc_ways={cpu.llc_ways}",
        f"store_stall={cpu.store_stall}",
        f"background={profile.background}",
        f"sample_ns={SAMPLE_NS}",
        _tier_line("fast", profile.fast),
        _tier_line("slow", profile.slow),
    ]
    lines += [
        f"ram={tier},{start},{size},{memory[TIERS[tier]]},0"
        for tier, start, size in memory_ranges(profile)
    ]
    if job.follow:
        lines.append(f"live={folder / LIVE}")
    if job.fast_kinds is not None:
        lines.append(f"fast_kinds={','.join(job.fast_kinds)}")
    if job.timing:
        lines.append(f"force_tier={job.timing}")
    return "\n".join(lines) + "\n"


def _tier_line(name: str, tier: Tier) -> str:
    return (
        f"tier={name},{tier.read_latency_ns},{tier.write_latency_ns},"
        f"{tier.read_bandwidth},{tier.write_bandwidth},{tier.unit}"
    )


def _numa(profile: Profile, memory: Mapping[str, str], cpus: int) -> list[str]:
    """Two nodes, the second without a core, and an HMAT that tells their speeds.

    Without the HMAT both nodes would be one tier, and nothing would be demoted.
    """
    argv = []
    for node, _, size in memory_ranges(profile):
        name = TIERS[node]
        backend = f"memory-backend-file,id={name},share=on,mem-path={memory[name]},size={size}"
        place = f"cpus=0-{cpus - 1}" if node == 0 else "initiator=0"
        argv += ["-object", backend, "-numa", f"node,nodeid={node},memdev={name},{place}"]
    argv += ["-numa", "dist,src=0,dst=1,val=20"]
    for node, tier in enumerate((profile.fast, profile.slow)):
        lb = f"hmat-lb,initiator=0,target={node},hierarchy=memory"
        argv += ["-numa", f"{lb},data-type=access-latency,latency={tier.read_latency_ns:.0f}"]
        argv += [
            "-numa",
            f"{lb},data-type=access-bandwidth,bandwidth={tier.read_bandwidth * 1000:.0f}M",
        ]
    return argv


class _Memory:
    """The files (without names) that back the guest's memory, shared by QEMU, the model and us."""

    def __init__(self, profile: Profile) -> None:
        sizes = {TIERS[tier]: size for tier, _, size in memory_ranges(profile)}
        sizes["page"] = PAGE_BYTES
        descriptors = {name: os.memfd_create(f"kloc-{name}", 0) for name in sizes}
        for name, size in sizes.items():
            os.ftruncate(descriptors[name], size)
        self.fds = tuple(descriptors.values())
        self.files = {name: f"/proc/self/fd/{fd}" for name, fd in descriptors.items()}
        self._page = mmap.mmap(descriptors["page"], PAGE_BYTES)

    def word(self, offset: int) -> int:
        """Return the 64-bit word at `offset` of the shared page."""
        (value,) = struct.unpack_from("<Q", self._page, offset)
        return int(value)

    def close(self) -> None:
        self._page.close()
        for fd in self.fds:
            os.close(fd)


def _write_job(job: Job, parts: Parts, image: Path) -> None:
    folder = image.parent / "job"
    folder.mkdir()
    files = {"mode": "shell" if job.shell else "measure" if job.modelled else "check"}
    files["settings"] = "".join(f"{path} {value}\n" for path, value in job.settings.items())
    files.update(job.scripts)
    paths: dict[str, Path] = {}
    for name, text in files.items():
        (folder / name).write_text(text)
        paths[f"/kloc/job/{name}"] = folder / name
    if job.commands:
        paths.update(inside.files(folder))
    paths.update({str(path.absolute()): path for path in job.copies})
    paths.update({f"/usr/local/bin/{path.name}": path for path in parts.programs})
    guest.job_image(paths, image)


def data_image(root: Root, size: int) -> Path:
    """Return an empty ext4 file system of `size` bytes for /data, made once."""

    def make(folder: Path) -> None:
        image = folder / "data.img"
        with image.open("wb") as file:
            file.truncate(1 << (size - 1).bit_length())
        # A fixed identity and no lazy work: each would differ from run to run.
        options = f"hash_seed={DATA_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        root.run(
            [
                "mke2fs",
                "-q",
                "-F",
                "-t",
                "ext4",
                "-U",
                DATA_UUID,
                "-E",
                options,
                str(image),
                f"{size >> 10}k",
            ],
            binds=[folder],
            env={"SOURCE_DATE_EPOCH": "1704067200", "E2FSPROGS_FAKE_TIME": "1704067200"},
        )

    return (
        cache.build("data", cache.key("data-1", str(size), root.versions()["e2fsprogs"]), make)
        / "data.img"
    )


@contextmanager
def started(job: Job, parts: Parts) -> Iterator[Machine]:
    """Give a machine that runs `job`, in a scratch folder of its own."""
    with cache.scratch(job.name) as folder, Machine(job, parts, folder) as machine:
        yield machine
