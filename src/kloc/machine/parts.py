# SPDX-License-Identifier: GPL-2.0
"""Builds the parts of a machine on first use: tools, kernel, timing model and guest image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from kloc.build import (
    foreign_kernel,
    guest_image,
    kernel,
    kernel_process,
    plugin,
    programs,
    qemu,
)
from kloc.build.qemu import Qemu
from kloc.build.root import Root, tool_root

MARK = guest_image.FILES / "kloc-mark.c"
"""The program with which the agent tells the timing model where the measured region is."""

FREE = guest_image.FILES / "kloc-free.c"
"""The program that asks a kernel which frames are free, if the timing model cannot see it."""


WATCHERS = tuple(guest_image.FILES / f"kloc-{name}.c" for name in ("memory", "damon", "bound"))
"""The programs that sample memory, that give DAMON its target, and that sample budgets."""


@dataclass(frozen=True)
class Guest:
    """What the guest of a machine has: Debian packages, and programs from these C files."""

    packages: tuple[str, ...]
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Parts:
    """The parts of a machine, in the cache.

    The guest has `programs` in its PATH, and those of `watchers` that its job needs.
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
    (parts,) = prepare_machines([Guest(tuple(packages), tuple(sources))], foreign)
    return parts


def prepare_machines(
    guests: Sequence[Guest],
    foreign: str | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Parts]:
    """Return the parts of several machines, with the same kernel, like `prepare_parts`.

    The kernel is built beside the other parts. `meanwhile` is called once these are there.
    """
    tools = tool_root()
    with kernel_process.building() if foreign is None else nullcontext():
        emulator, model = qemu.build(), plugin.build()
        own = (MARK,) if foreign is None else (MARK, FREE)
        watchers = tuple(programs.build(source) for source in WATCHERS)
        made = [
            (
                guest_image.guest_image(sorted(set(guest.packages))),
                tuple(programs.build(source) for source in (*own, *guest.sources)),
            )
            for guest in guests
        ]
        meanwhile()
    booted = kernel.build() if foreign is None else foreign_kernel.prepare(foreign)
    return [
        Parts(tools, emulator, booted, model, image, commands, watchers) for image, commands in made
    ]
