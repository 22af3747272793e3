# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine without its model, its disks and its agent: a kernel and one program.

It runs kernels that have nothing of ours, instruction by instruction: what its program reads of
the TSC are instructions executed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.build import bootstrap, root
from kloc.build.kernel import Kernel
from kloc.build.root import Bind
from kloc.machine import guest_console, profile, qemu

FOLDERS = ("dev", "proc", "sys", "data")
"""What the program finds there, to mount something on."""

MEMORY = {"fast": "/tmp/fast", "slow": "/tmp/slow"}
"""Files of QEMU's own, in memory that goes with it."""

COMMAND_LINE = (
    "console=ttyS0 rdinit=/init nokaslr norandmaps nopti mitigations=off tsc=reliable "
    "no_timer_check slab_nomerge randomize_kstack_offset=off "
    "panic=-1 panic_on_oops=1 softlockup_panic=1 hung_task_panic=1"
)
"""As the machine's, but that nothing is left to chance: two kernels do not draw the same."""

INITRAMFS, TREE = "initramfs", "tree"


def run(
    kernel: Kernel,
    files: Mapping[str, Path],
    plugin: Sequence[str],
    on_line: Callable[[str], None],
    folder: Path,
) -> None:
    """Run `files["init"]` on `kernel` until it reboots; each line that it prints is for `on_line`.

    It finds `files` in the root of its file system, which is in memory, and prints to /dev/ttyS1.
    `plugin` is the argument of QEMU's -plugin. `folder` is the run's own. KlocError if QEMU fails,
    or the kernel crashes.
    """
    _make_initramfs(files, folder)
    console, errors = folder / "console", list[str]()

    def sort(line: str) -> None:
        (errors.append if line.startswith("qemu-system-x86_64: ") else on_line)(line.rstrip())

    qemu = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64"]
    status = root.tool_root().follow(
        [*qemu, *_arguments(kernel, folder, plugin)],
        sort,
        binds=[cache.directory(), folder],
        cwd=folder,
    )
    printed = console.read_text(errors="replace") if console.exists() else ""
    if status != 0 or guest_console.CRASH.search(printed):
        reason = "the kernel crashed" if status == 0 else f"QEMU ended with status {status}"
        told = guest_console.telling("\n".join([printed, *errors]))
        raise KlocError(f"{reason}\n{told}", hint=f"the whole console is in {console}")


def _arguments(kernel: Kernel, folder: Path, plugin: Sequence[str]) -> list[str]:
    return [
        *qemu.EXACT,
        *qemu.hardware(profile.load(profile.DEFAULT), MEMORY, cpus=1, seed=1),
        *("-plugin", ",".join(plugin)),
        *("-kernel", str(kernel.bzimage), "-initrd", str(folder / INITRAMFS)),
        *("-append", COMMAND_LINE, "-monitor", "none"),
        *("-serial", f"file:{folder / 'console'}", "-serial", "stdio"),
    ]


def _make_initramfs(files: Mapping[str, Path], folder: Path) -> None:
    tree = folder / TREE
    for name in FOLDERS:
        (tree / name).mkdir(parents=True)
    for name, source in files.items():
        shutil.copy(source, tree / name)
    for path in (tree, *tree.iterdir()):
        os.utime(path, (bootstrap.EPOCH, bootstrap.EPOCH))
    names = sorted([*FOLDERS, *files])
    seen = Path("/build")
    options = ["--quiet", "--format=newc", "--reproducible", "--owner=0:0"]
    root.tool_root().run(
        ["cpio", "--create", *options, f"--file={seen / INITRAMFS}"],
        binds=[Bind(folder, seen)],
        cwd=seen / TREE,
        stdin="\n".join([".", *names]) + "\n",
    )
