# SPDX-License-Identifier: GPL-2.0
"""Builds the parts of a machine on first use: tools, kernel, timing model and guest image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kloc.build import foreign_kernel, guest_image, kernel, plugin, programs, qemu
from kloc.build.qemu import Qemu
from kloc.build.root import Root, tool_root

MARK = guest_image.FILES / "kloc-mark.c"
"""The program with which the agent tells the timing model where the measured region is."""

FREE = guest_image.FILES / "kloc-free.c"
"""The program that asks a kernel which frames are free, if the timing model cannot see it."""


WATCHERS = (guest_image.FILES / "kloc-memory.c", guest_image.FILES / "kloc-damon.c")
"""The programs that sample memory, and that give DAMON its target."""


@dataclass(frozen=True)
class Parts:
    """The parts of a machine, in the cache.

    The guest has `programs` in its PATH, and `watchers`, too, if its job needs them.
    """

    root: Root
    qemu: Qemu
    kernel: kernel.Kernel | foreign_kernel.ForeignKernel
    plugin: Path
    image: guest_image.GuestImage
    programs: tuple[Path, ...] = ()
    watchers: tuple[Path, ...] = ()


def prepare_parts(
    packages: Iterable[str], sources: Iterable[Path] = (), foreign: str | None = None
) -> Parts:
    """Return the parts of a machine whose guest has `packages`, building those not in the cache.

    Each C file in `sources` is built as a program of the guest. `foreign` names a kernel that this
    project did not build (see kloc.build.foreign_kernel).
    """
    own = () if foreign is None else (FREE,)
    return Parts(
        tool_root(),
        qemu.build(),
        kernel.build() if foreign is None else foreign_kernel.prepare(foreign),
        plugin.build(),
        guest_image.guest_image(sorted(set(packages))),
        tuple(programs.build(source) for source in (MARK, *own, *sources)),
        tuple(programs.build(source) for source in WATCHERS),
    )
