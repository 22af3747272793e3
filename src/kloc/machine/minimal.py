# SPDX-License-Identifier: GPL-2.0
"""Runs one program on a kernel in a minimal machine: no timing model, disks or agent.

The kernel may be any, with or without our patches. The TSC counts executed instructions.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.build import bootstrap, root
from kloc.build import qemu as build_qemu
from kloc.build.kernel import Kernel
from kloc.build.root import Bind
from kloc.machine import guest_console, profile, qemu

MOUNT_POINTS = ("dev", "proc", "sys", "data")
"""Empty directories in the root of the guest's file system, for the program to mount on."""

MEMORY = {"fast": "/tmp/fast", "slow": "/tmp/slow"}
"""Files that QEMU creates in its own /tmp, which is memory that is freed when QEMU ends."""

COMMAND_LINE = (
    "console=ttyS0 rdinit=/init nokaslr norandmaps nopti mitigations=off tsc=reliable "
    "no_timer_check slab_nomerge randomize_kstack_offset=off "
    "panic=-1 oops=panic softlockup_panic=1 hung_task_panic=1"
)
"""Like the two-tier machine's, but without random addresses, which would differ between kernels."""

INITRAMFS, TREE = "initramfs", "tree"


def run(
    kernel: Kernel,
    files: Mapping[str, Path],
    plugin: Sequence[str],
    on_line: Callable[[str], None],
    directory: Path,
    parameters: Sequence[str] = (),
) -> None:
    """Run `files["init"]` on `kernel` until it reboots. Call `on_line` with each line it prints.

    `files` are copied into the root of the guest's file system, which is in memory; the program
    prints to /dev/ttyS1. `plugin` is the argument of QEMU's -plugin, and `parameters` are
    for the kernel. The run's files are written to `directory`. Raises KlocError if QEMU fails or
    the kernel crashes.
    """
    _make_initramfs(files, directory)
    errors: list[str] = []

    def on_output(line: str) -> None:
        handle = errors.append if line.startswith("qemu-system-x86_64: ") else on_line
        handle(line.rstrip())

    machine_qemu = build_qemu.build()
    status = root.tool_root().follow(
        [
            *("setpriv", "--pdeathsig", "KILL", str(machine_qemu.program)),
            *_qemu_arguments(kernel, directory, plugin, parameters),
        ],
        on_output,
        binds=[cache.directory(), *machine_qemu.binds, directory],
        cwd=directory,
    )
    path = directory / "console"
    console = path.read_text(errors="replace") if path.exists() else ""
    if status != 0 or guest_console.CRASH.search(console):
        reason = "the kernel crashed" if status == 0 else f"QEMU ended with status {status}"
        excerpt = guest_console.excerpt("\n".join([console, *errors]))
        raise KlocError(f"{reason}\n{excerpt}", hint=f"the whole console is in {path}")


def _qemu_arguments(
    kernel: Kernel, directory: Path, plugin: Sequence[str], parameters: Sequence[str]
) -> list[str]:
    return [
        *qemu.clock_arguments(insn_ps=1000, quantum_ns=1000),
        *qemu.hardware_arguments(profile.load(profile.DEFAULT), MEMORY, cpus=1, seed=1),
        *("-plugin", ",".join(plugin)),
        *("-kernel", str(kernel.image), "-initrd", str(directory / INITRAMFS)),
        *("-append", " ".join([COMMAND_LINE, *parameters]), "-monitor", "none"),
        *("-serial", f"file:{directory / 'console'}", "-serial", "stdio"),
    ]


def _make_initramfs(files: Mapping[str, Path], directory: Path) -> None:
    tree = directory / TREE
    for name in MOUNT_POINTS:
        (tree / name).mkdir(parents=True)
    for name, source in files.items():
        shutil.copy(source, tree / name)
    for path in (tree, *tree.iterdir()):
        os.utime(path, (bootstrap.EPOCH, bootstrap.EPOCH))
    names = sorted([*MOUNT_POINTS, *files])
    # Where the tool root has `directory`.
    mounted = Path("/build")
    options = ["--quiet", "--format=newc", "--reproducible", "--owner=0:0"]
    root.tool_root().run(
        ["cpio", "--create", *options, f"--file={mounted / INITRAMFS}"],
        binds=[Bind(directory, mounted)],
        cwd=mounted / TREE,
        stdin="\n".join([".", *names]) + "\n",
    )
