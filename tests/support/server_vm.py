# SPDX-License-Identifier: GPL-2.0
"""A virtual machine that is a Debian server with systemd and two tiers of memory.

Its root is a disk of its own, which keeps what is written from one boot to the next. Scripts are
run as root by a unit of systemd, each in a boot that ends with the script.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kloc.build import bootstrap, kernel, qemu, root
from kloc.build.ext4 import make_ext4
from kloc.build.guest_image import normalized
from kloc.machine.profile import Storage
from kloc.machine.qemu import CPU, clock_arguments, device_arguments, disk_arguments
from kloc.machine.topology import Node, Speed, Topology

PACKAGES = (
    "apt",
    "dbus",
    "e2fsprogs",
    "kmod",
    "procps",
    "python3",
    "python3-argcomplete",
    "python3-prometheus-client",
    "python3-rich",
    "systemd",
    "systemd-sysv",
    "udev",
)
"""What a small Debian server has, with what the package kloc needs: there is no network."""

FOR_MEASURING = (
    "damo",
    "gcc",
    "iproute2",
    "libc6-dev",
    "python3-msgspec",
    "redis-server",
    "redis-tools",
)
"""What kloc compare --native redis and the policy damo-tier need."""

TOPOLOGY = Topology(
    nodes=(
        Node(memory=768 << 20, speed=Speed(90, 20), cpus=2),
        Node(memory=512 << 20, speed=Speed(270, 5), initiator=0),
    )
)
"""Two tiers, as the firmware tells them: the second node has no CPU, and is slower."""

INSN_PS, QUANTUM_NS = 1000, 100_000
"""How long an instruction takes, and how far a CPU may get ahead of the other one.

The time of the guest is that of its instructions, so that time limits of systemd do not depend on
what else the host does.
"""

DISK_BYTES = 2 << 30
"""The size of the server's disk."""

STORAGE = Storage(
    capacity=DISK_BYTES,
    read_latency_us=80,
    write_latency_us=20,
    read_bandwidth=1.2,
    write_bandwidth=1.2,
)
"""The disks: with those of QEMU, the guest's time would depend on how fast the host's are."""

SEED = 1
"""The seed of QEMU's random numbers."""

BOOT_SECONDS = 1800
"""How long a boot with its script may take."""

CONSOLE_LINES = 40
"""How many lines of the console an error quotes."""

JOB_UNIT = """\
[Unit]
Description=The script of a test
# It starts and stops services itself, also while the system is starting.
DefaultDependencies=no
After=basic.target
Conflicts=shutdown.target

[Service]
ExecStart=/usr/local/sbin/run-job

[Install]
WantedBy=multi-user.target
"""

RUN_JOB = """\
#!/bin/sh
mkdir /run/job
tar -xf /dev/vdb -C /run/job
cd /run/job
stty -F /dev/ttyS1 raw
echo 'script begins' >/dev/ttyS1
# Not on a terminal, programs print neither colours nor progress.
{ sh -eu ./script && echo "status 0" || echo "status $?"; } 2>&1 | cat >/dev/ttyS1
exec systemctl --no-block poweroff
"""
"""Unpacks the second disk, runs its script, and writes the output to the second serial port.

The server is turned off when the last process ends that has the script's output.
"""

FILES = {
    "etc/hostname": ("server\n", 0o644),
    "etc/fstab": ("", 0o644),
    "etc/machine-id": ("", 0o644),
    "etc/systemd/system/test-job.service": (JOB_UNIT, 0o644),
    "usr/local/sbin/run-job": (RUN_JOB, 0o755),
}
"""Files of the server that Debian's packages do not have, with their modes."""

ENABLED = "etc/systemd/system/multi-user.target.wants/test-job.service"

PARAMETERS = (
    "console=ttyS0 rw panic=-1 random.trust_cpu=on "
    # QEMU's clock is simulated time, and the TSC is that clock.
    "tsc=reliable no_timer_check"
)


@dataclass
class Server:
    """A server whose disk and files are in the directory `path`."""

    path: Path
    boots: int = 0

    def boot(self, script: str, files: Iterable[Path] = ()) -> str:
        """Boot, run `script` with sh -eu, turn the server off, and return the script's output.

        The script is run as root, in a directory that has copies of `files`. Raises AssertionError,
        with what was printed, if the script fails, or if it takes longer than BOOT_SECONDS.
        """
        self.boots += 1
        console, output = (self.path / f"{name}{self.boots}" for name in ("console", "output"))
        job = self.path / "job.tar"
        with tarfile.open(job, "w") as out:
            _add(out, "script", script.encode(), 0o644)
            for file in files:
                _add(out, file.name, file.read_bytes(), 0o644)
        # The memory of a device has to be a power of two bytes.
        os.truncate(job, 1 << (job.stat().st_size - 1).bit_length())
        messages = _finish(self.command(job, console, output))
        printed = output.read_text(errors="replace") if output.exists() else ""
        # Firmware and boot loader write to all serial ports.
        before, _, after = printed.partition("script begins\n")
        printed = after or before
        body, _, status = printed.rpartition("status ")
        if status.strip() != "0" or messages:
            # QEMU makes the file when it starts the machine.
            text = console.read_text(errors="replace") if console.exists() else ""
            raise AssertionError(
                f"boot {self.boots} failed: {messages}\nthe script's output:\n{printed}\n"
                f"the end of the console:\n{root.last_lines(text, CONSOLE_LINES)}"
            )
        return body

    def boot_arguments(self) -> tuple[list[str], list[Path]]:
        """Return QEMU's arguments for what it boots, and the directories that they name."""
        image = kernel.build().image
        return ["-kernel", str(image), "-append", f"root=/dev/vda {PARAMETERS}"], [image.parent]

    def hardware_arguments(self) -> list[str]:
        """Return QEMU's arguments for the board, the CPUs and the memory."""
        return TOPOLOGY.hardware_arguments(CPU)

    def command(self, job: Path, console: Path, output: Path) -> list[str]:
        """Return the command that boots with the disk `job` until the server turns itself off.

        It prints only what goes wrong. The two serial ports go to the files `console` and `output`.
        """
        machine = qemu.build()
        arguments, directories = self.boot_arguments()
        argv = [
            *("setpriv", "--pdeathsig", "KILL", str(machine.program)),
            *clock_arguments(INSN_PS, QUANTUM_NS),
            *self.hardware_arguments(),
            *device_arguments(SEED),
            *("-monitor", "none"),
            *disk_arguments(0, self.path / "disk", STORAGE, kept=True),
            *disk_arguments(1, job, STORAGE, kept=False),
            *arguments,
            *("-serial", f"file:{console}", "-serial", f"file:{output}"),
        ]
        binds = [*machine.binds, *directories, self.path]
        return root.tool_root().command(argv, binds=binds)


def make(directory: Path) -> Server:
    """Return a new server, whose disk is made in `directory`."""
    tar = directory / "root.tar"
    packages = (*PACKAGES, *FOR_MEASURING)
    bootstrap.bootstrap("a Debian server with systemd", packages, tar, seconds=100, pinned=True)
    make_file_system(tar, FILES, directory / "disk", DISK_BYTES)
    tar.unlink()
    return Server(directory)


def make_file_system(
    packages: Path, files: Mapping[str, tuple[str, int]], image: Path, size: int
) -> None:
    """Make `image` an ext4 file system of `size` bytes that runs the scripts of a Server.

    It has the root in the tar file `packages`, which is in the same directory, and `files`: texts
    and modes by name.
    """
    tar = packages.with_suffix(".complete")
    with tarfile.open(packages) as source, tarfile.open(tar, "w") as out:
        for member in source:
            if member.name.removeprefix("./") not in files:
                out.addfile(member, source.extractfile(member) if member.isreg() else None)
        for name, (text, mode) in files.items():
            _add(out, f"./{name}", text.encode(), mode)
        link = normalized(tarfile.TarInfo(f"./{ENABLED}"))
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/systemd/system/test-job.service"
        out.addfile(link)
    make_ext4(root.tool_root(), tar, image)
    tar.unlink()
    with image.open("r+b") as file:
        file.truncate(size)
    root.tool_root().run(["resize2fs", "-f", str(image)], binds=[image.parent])


def _finish(command: list[str]) -> str:
    """Run a command until it ends or BOOT_SECONDS are over, and return what it printed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        return process.communicate(timeout=BOOT_SECONDS)[0]
    except subprocess.TimeoutExpired:
        return f"still running after {BOOT_SECONDS:g} s"
    finally:
        process.kill()
        process.communicate()


def _add(out: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    member = normalized(tarfile.TarInfo(name))
    member.size, member.mode = len(content), mode
    out.addfile(member, io.BytesIO(content))
