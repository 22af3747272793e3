# SPDX-License-Identifier: GPL-2.0
"""The parts that a machine is made of, built on first use: tools, kernel, model, guest image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kloc.build import guest_image, kernel, plugin, programs
from kloc.build.root import Root, tool_root


@dataclass(frozen=True)
class Parts:
    """What a machine is made of, built or found in the cache; `programs` are found in its PATH."""

    root: Root
    kernel: kernel.Kernel
    plugin: Path
    image: guest_image.GuestImage
    programs: tuple[Path, ...] = ()


def prepare_parts(packages: Iterable[str], sources: Iterable[Path] = ()) -> Parts:
    """Return the parts of a machine whose guest has `packages`, building what is missing.

    `sources` are C files of programs that it has beside them.
    """
    return Parts(
        tool_root(),
        kernel.build(),
        plugin.build(),
        guest_image.guest_image(sorted(set(packages))),
        tuple(programs.build(source) for source in sources),
    )
