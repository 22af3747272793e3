# SPDX-License-Identifier: GPL-2.0
"""QEMU with our patches: the time of its vCPUs, its disks, and what it tells plugins.

Most tests read one run of a guest without a kernel, qemu_guest.c, with the plugin qemu_probe.c.
`kloc bench machine` and tests/machine test the same QEMU with Linux and the timing model.
"""

import hashlib
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT
from kloc.build import qemu
from kloc.build.qemu import Qemu
from kloc.build.root import Bind, Root
from kloc.machine.qemu import clock_arguments

INSN_PS, QUANTUM_NS = 250, 2000
CPUS = 4

# As in qemu_guest.c.
LOOP_INSNS = 2_000_000
LOOP_NS = LOOP_INSNS * INSN_PS // 1000
STALL_NS, TIMER_NS, SLEEP_NS = 20_000, 5_000, 1_000_000
PAUSES, PAUSE_NS = 1000, 40
PAGES = 900
TOUCHES = 100

READ_NS, WRITE_NS = 50_000, 20_000
BLOCK, BYTES_PER_US = 4096, 1024
TRANSFER_NS = BLOCK * 1000 // BYTES_PER_US
BLOCKS = 16

FEW_NS = 10
"""Longer than a few instructions around a measurement take."""

SOURCES = PROJECT / "tests" / "builds"
IN_ROOT, OUT = Path("/sources"), Path("/out")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
GUEST_FLAGS = (
    *("-m32", "-march=i686", "-mgeneral-regs-only", "-O2", "-ffreestanding", "-fno-pic"),
    *("-fno-stack-protector", "-fno-tree-loop-distribute-patterns", "-fcf-protection=none"),
    *("-nostdlib", "-static", "-Wl,-N,--build-id=none,-Ttext=0x100000,-e,begin"),
)


@dataclass(frozen=True)
class Mark:
    """A line that the plugin writes when the guest stores to MARK."""

    vcpu: int
    time_ps: int
    insns: int
    stalled_ps: int
    roots: int
    pages: int
    flushes: int
    last_root: int
    last_page: int
    dma_read: int
    dma_written: int
    accesses: int
    filtered_calls: int
    varied: int


@dataclass(frozen=True)
class Run:
    """What the guest and the plugin have written."""

    values: dict[str, list[int]]
    marks: dict[int, Mark]
    vcpus: list[list[int]]
    trace: int
    backward: int

    def value(self, name: str) -> int:
        """Return the one value of this name."""
        (value,) = self.values[name]
        return value


@pytest.fixture(scope="module")
def machine_qemu(tools: Root) -> Qemu:
    return qemu.build()


@pytest.fixture(scope="module")
def programs(tools: Root, machine_qemu: Qemu, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the guest and the plugin."""
    directory = tmp_path_factory.mktemp("programs")
    headers = Path("/headers")
    binds = [
        Bind(SOURCES, IN_ROOT),
        Bind(directory, OUT),
        Bind(machine_qemu.header.parent, headers),
    ]
    guest = ["-o", str(OUT / "guest"), str(IN_ROOT / "qemu_guest.c")]
    tools.run(["gcc", *WARNINGS, *GUEST_FLAGS, *guest], binds=binds)
    glib = tools.run(["pkg-config", "--cflags", "glib-2.0"]).split()
    flags = [*WARNINGS, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-I", str(headers), *glib]
    probe = ["-o", str(OUT / "probe.so"), str(IN_ROOT / "qemu_probe.c")]
    tools.run(["gcc", *flags, *probe], binds=binds)
    return directory


PATCHES = 20_000


@pytest.fixture(scope="module")
def patching_guest(tools: Root, programs: Path) -> Path:
    """The guest that patches its own code."""
    binds = [Bind(SOURCES, IN_ROOT), Bind(programs, OUT)]
    source = [f"-DPATCHES={PATCHES}", "-o", str(OUT / "patching"), str(IN_ROOT / "qemu_guest.c")]
    tools.run(["gcc", *WARNINGS, *GUEST_FLAGS, *source], binds=binds)
    return programs / "patching"


def image_of_blocks() -> bytes:
    """Return the disk's content: each word of block N is N * 1000."""
    return b"".join(struct.pack("<I", n * 1000) * (BLOCK // 4) for n in range(BLOCKS))


def execute(
    tools: Root,
    machine_qemu: Qemu,
    programs: Path,
    directory: Path,
    cpus: int,
    options: Sequence[str] = (),
) -> Run:
    """Run the guest with its files in `directory`. `options` are added to the disk's."""
    image = directory / "image"
    image.write_bytes(image_of_blocks())
    disk = ",".join(
        [
            f"driver=timed,node-name=disk,filename={image}",
            f"read-latency-ns={READ_NS},write-latency-ns={WRITE_NS}",
            f"read-bytes-per-us={BYTES_PER_US},write-bytes-per-us={BYTES_PER_US}",
            *options,
        ]
    )
    tools.run(
        [
            str(machine_qemu.program),
            *clock_arguments(INSN_PS, QUANTUM_NS),
            *("-machine", "pc", "-cpu", "Nehalem", "-smp", str(cpus), "-m", "64"),
            *("-nodefaults", "-display", "none", "-nic", "none", "-no-reboot", "-seed", "1"),
            *("-rtc", "base=2024-01-01,clock=vm"),
            *("-serial", f"file:{directory / 'serial'}"),
            *("-blockdev", disk, "-device", "virtio-blk-pci,drive=disk,ioeventfd=off"),
            *("-plugin", f"{programs / 'probe.so'},out={directory / 'probe'}"),
            *("-kernel", str(programs / "guest")),
        ],
        binds=[*machine_qemu.binds, programs, directory],
        cwd=directory,
    )
    return parse((directory / "serial").read_text(), (directory / "probe").read_text())


def parse(printed: str, probed: str) -> Run:
    """Return the lines of the guest and the plugin as a Run."""
    values = {}
    for line in printed.splitlines():
        name, *rest = line.split()
        values[name] = [int(value, 16) for value in rest]
    marks, vcpus, single = {}, [], {}
    for line in probed.splitlines():
        name, first, *others = line.split()
        if name == "mark":
            marks[int(first)] = Mark(*map(int, others))
        elif name == "vcpu":
            vcpus.append([int(value) for value in others])
        else:
            single[name] = int(first)
    return Run(values, marks, vcpus, **single)


@pytest.fixture(scope="module")
def run(
    tools: Root, machine_qemu: Qemu, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A run with CPUS vCPUs."""
    return execute(tools, machine_qemu, programs, tmp_path_factory.mktemp("run"), CPUS)


@contextmanager
def busy_host() -> Iterator[None]:
    """Keep all of the host's CPUs busy."""
    count = 2 * (os.cpu_count() or 1)
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_version_names_the_series(tools: Root, machine_qemu: Qemu) -> None:
    command = tools.command([str(machine_qemu.program), "--version"], binds=machine_qemu.binds)
    printed = subprocess.check_output(command, text=True)
    assert f"({machine_qemu.version})" in printed.splitlines()[0]
    assert machine_qemu.version.endswith(f"+kloc.{qemu.series_hash()[:10]}")


def test_patches_are_all_in_the_series_and_signed() -> None:
    patches = qemu.patches()
    assert sorted(patches) == sorted((qemu.MACHINE / "patches").glob("*.patch"))
    for number, patch in enumerate(patches, 1):
        head, _, diff = patch.read_text().partition("\n---\n")
        assert patch.name.startswith(f"{number:04}-")
        assert "\nSubject: [PATCH] " in head
        assert "\nSigned-off-by: " in head
        assert diff


def test_devices_are_only_those_of_the_machine(tools: Root, machine_qemu: Qemu) -> None:
    command = [str(machine_qemu.program), "-device", "help"]
    help_text = tools.run(command, binds=machine_qemu.binds)
    found = re.findall(r'^name "([^"]+)", bus PCI', help_text, re.MULTILINE)
    assert "virtio-blk-pci" in found
    # The board selects its chip set's USB and IDE, and ACPI its error records.
    expected = re.compile(r"virtio-blk-pci|(piix|ich9)\d?-(usb-uhci|ide)|acpi-erst")
    assert not [name for name in found if not expected.match(name)]


def test_two_runs_are_identical_on_a_busy_host(
    run: Run, tools: Root, machine_qemu: Qemu, programs: Path, tmp_path: Path
) -> None:
    with busy_host():
        again = execute(tools, machine_qemu, programs, tmp_path, CPUS)
    assert again == run


def test_loop_takes_its_instructions_on_one_cpu_and_on_all(run: Run) -> None:
    assert run.value("cpus") == CPUS
    assert run.value("alone") == pytest.approx(LOOP_NS, abs=FEW_NS)
    assert run.values["together"] == pytest.approx([LOOP_NS] * CPUS, abs=FEW_NS)


def test_stall_takes_its_time_from_its_vcpu_only(run: Run) -> None:
    assert run.value("stall") == pytest.approx(STALL_NS, abs=FEW_NS)
    expected = [LOOP_NS, 10 * STALL_NS, *[LOOP_NS] * (CPUS - 2)]
    assert run.values["one_stalls"] == pytest.approx(expected, abs=2 * FEW_NS)


def test_time_is_instructions_and_stalls(run: Run) -> None:
    before, after = run.marks[3], run.marks[4]
    assert before.vcpu == after.vcpu == 0
    insns, stalled_ps = after.insns - before.insns, after.stalled_ps - before.stalled_ps
    assert insns > 10 * LOOP_INSNS
    assert stalled_ps == 10 * 123457
    assert after.time_ps - before.time_ps == insns * INSN_PS + stalled_ps


def test_time_of_a_vcpu_never_goes_back(run: Run) -> None:
    assert run.backward == 0


def test_pause_takes_its_time(run: Run) -> None:
    assert run.value("pauses") == pytest.approx(PAUSES * PAUSE_NS, rel=0.03)


def test_callbacks_and_inline_operations_know_the_vcpu(run: Run) -> None:
    for cpu in range(CPUS):
        before, after = run.marks[0x100 + cpu], run.marks[0x200 + cpu]
        assert before.vcpu == after.vcpu == cpu
        assert after.insns - before.insns == pytest.approx(LOOP_INSNS, abs=100)
    assert len(run.vcpus) == CPUS
    for inline, callbacks in run.vcpus:
        assert inline == callbacks


def test_idle_cpu_wakes_at_its_timer(run: Run) -> None:
    assert SLEEP_NS <= run.value("timer") <= SLEEP_NS + FEW_NS


def test_timer_within_a_stall_fires_right_after_it(run: Run) -> None:
    assert STALL_NS <= run.value("timer_in_stall") <= STALL_NS + FEW_NS


def test_timer_of_an_idle_cpu_does_not_wait_for_the_stall_of_another(run: Run) -> None:
    assert TIMER_NS <= run.value("timer_of_other") <= TIMER_NS + FEW_NS


def test_idle_cpu_wakes_when_another_sends_an_interrupt(run: Run) -> None:
    assert 0 < run.value("wake") <= 2 * FEW_NS


def test_cpu_sees_a_store_of_another_within_a_quantum(run: Run) -> None:
    lag = (run.value("seen") + 2**63) % 2**64 - 2**63
    assert -QUANTUM_NS <= lag <= QUANTUM_NS + FEW_NS


def test_plugin_is_told_of_tlb_events(run: Run) -> None:
    def counts(number: int) -> tuple[int, int, int]:
        before, after = run.marks[number], run.marks[number + 1]
        return (
            after.roots - before.roots,
            after.pages - before.pages,
            after.flushes - before.flushes,
        )

    assert counts(10) == (0, 0, 1), "CR4.PSE"
    assert counts(12) == (0, 0, 1), "CR0.PG"
    assert counts(13) == (5, 0, 0), "CR3"
    assert counts(14) == (0, 7, 0), "INVLPG"
    assert run.marks[15].last_page == 0x1000000 + 6 * 4096
    assert counts(15) == (0, 0, 2), "CR4.PGE, set and cleared"
    assert counts(16) == (0, 0, 1), "CR0.WP"
    assert counts(17) == (0, 0, 0), "reading memory"


def test_qemus_own_tlb_holds_its_fixed_number_of_pages(run: Run) -> None:
    """A larger TLB than upstream's first one, so that few accessed bits are set again."""
    assert run.value("accessed") == PAGES
    assert run.value("accessed_again") <= PAGES // 20


def test_filter_skips_callbacks_and_counts_accesses(run: Run) -> None:
    def accesses(number: int) -> tuple[int, int]:
        before, after = run.marks[number], run.marks[number + 1]
        return after.accesses - before.accesses, after.filtered_calls - before.filtered_calls

    assert run.value("touches") == TOUCHES
    assert run.value("touches_again") == 2 * TOUCHES
    all_accesses, all_calls = accesses(30)
    assert all_accesses == all_calls > 4 * TOUCHES
    counted, calls = accesses(32)
    assert counted - calls == 4 * TOUCHES + 1, "the last one loads the result"


def test_blocks_of_the_selected_variant_are_executed(run: Run) -> None:
    for number, variant in ((40, 0), (42, 1), (44, 0), (46, 1)):
        varied = run.marks[number + 1].varied - run.marks[number].varied
        assert varied == pytest.approx(variant * LOOP_INSNS, abs=100)


def test_disk_completes_at_its_latency_and_bandwidth(run: Run) -> None:
    def close(expected: int) -> object:
        return pytest.approx(expected, abs=5 * FEW_NS)

    assert "failed" not in run.values
    assert run.value("read") == close(READ_NS + TRANSFER_NS)
    assert run.value("first_of_two") == close(READ_NS + TRANSFER_NS)
    assert run.value("second_of_two") == close(READ_NS + 2 * TRANSFER_NS)
    assert run.value("write") == close(WRITE_NS + TRANSFER_NS)
    assert run.value("flush") == close(WRITE_NS)
    assert run.value("discard") == close(0), "what completes at once must not wait for the host"


def test_disk_has_the_image_and_what_was_written(run: Run) -> None:
    assert run.value("first_word") == 5 * 1000
    assert run.value("last_word") == 0x5A5A0000 + 1023


def test_disk_does_not_write_to_the_image(
    tools: Root, machine_qemu: Qemu, programs: Path, tmp_path: Path
) -> None:
    """On a machine with one vCPU, which must know the same disk."""
    alone = execute(tools, machine_qemu, programs, tmp_path, cpus=1)
    assert alone.value("last_word") == 0x5A5A0000 + 1023
    digest = hashlib.sha256((tmp_path / "image").read_bytes()).digest()
    assert digest == hashlib.sha256(image_of_blocks()).digest()


def test_shared_disk_writes_to_the_image(
    tools: Root, machine_qemu: Qemu, programs: Path, tmp_path: Path
) -> None:
    execute(tools, machine_qemu, programs, tmp_path, cpus=1, options=["shared=on"])
    written = (tmp_path / "image").read_bytes()
    assert len(written) == len(image_of_blocks())
    assert struct.pack("<I", 0x5A5A0000 + 1023) in written


def test_no_vcpu_runs_code_that_was_replaced(
    tools: Root, machine_qemu: Qemu, patching_guest: Path, tmp_path: Path
) -> None:
    """Without our patch, one change of 6000 goes unseen on a busy host."""
    command = [
        str(machine_qemu.program),
        *("-accel", "tcg,thread=multi"),
        *("-machine", "pc", "-cpu", "Nehalem", "-smp", "2", "-m", "64"),
        *("-nodefaults", "-display", "none", "-nic", "none", "-no-reboot"),
        *("-serial", f"file:{tmp_path / 'serial'}"),
        *("-kernel", str(patching_guest)),
    ]
    tools.run(command, binds=[*machine_qemu.binds, patching_guest.parent, tmp_path], cwd=tmp_path)
    printed = dict(line.split() for line in (tmp_path / "serial").read_text().splitlines())
    assert int(printed["cpus"], 16) == 2
    assert int(printed["patches"], 16) > PATCHES // 100
    assert int(printed["outdated"], 16) == 0


def test_plugin_is_told_of_dma(run: Run) -> None:
    """A request has a header of 16 bytes, data, and a status of one byte."""
    read, write = (run.marks[20], run.marks[21]), (run.marks[22], run.marks[23])
    assert read[1].dma_read - read[0].dma_read == 16
    assert read[1].dma_written - read[0].dma_written == BLOCK + 1
    assert write[1].dma_read - write[0].dma_read == 16 + BLOCK
    assert write[1].dma_written - write[0].dma_written == 1
