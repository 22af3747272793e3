# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on: instructions and cache lines of system calls.

machine/bench/calls.c makes the calls, on each kernel, under QEMU's -icount; the difference
between two kernels of the same configuration and compiler is what the one has and the other has
not. Nothing is left to chance; but where objects lie and when the timer ticks, which differs from
kernel to kernel, is worth up to 0.3 % of a round of fork, exit and wait. So each kernel is measured
in several layouts of memory, and the median is what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import TYPE_CHECKING

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.build import data_image, kernel, plugin, programs, root
from kloc.machine import minimal
from kloc.measure.cost.kernels import CALLS, DISK_BYTES, LAYOUTS, Column
from kloc.measure.cost.parser import Call, Group, Memory, Run, parse

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Measured:
    """A kernel, and what its calls take; and its contexts, if there are any."""

    column: Column
    built: kernel.Kernel
    groups: tuple[Group, ...]
    memory: Memory | None = None


def measure(columns: Iterable[Column], layouts: int = LAYOUTS) -> list[Measured]:
    """Build the kernels and measure one after the other; KlocError if one fails at anything."""
    built = [(column, kernel.build(column.variant)) for column in columns]
    return [_measure(column, made, layouts) for column, made in built]


def _measure(column: Column, built: kernel.Kernel, layouts: int) -> Measured:
    runs = [_run(column, built, layout) for layout in range(layouts)]
    # What contexts take is no matter of chance.
    return Measured(column, built, middle([groups for groups, _ in runs]), runs[0][1])


def _run(column: Column, built: kernel.Kernel, layout: int) -> Run:
    printed: list[str] = []
    files = {
        "init": programs.build(CALLS),
        "disk": data_image.data_image(root.tool_root(), DISK_BYTES),
    }
    counter = plugin.build_counter()
    with (
        cache.scratch(f"cost-{column.name}") as folder,
        progress.shown(f"measuring the {column.name} kernel, layout {layout + 1}"),
    ):
        files["settings"], files["layout"] = folder / "written", folder / "number"
        files["settings"].write_text(
            "".join(f"{path} {value}\n" for path, value in column.settings.items())
        )
        files["layout"].write_text(f"{layout}\n")
        touched = folder / "lines"
        argument = [str(counter), f"output={touched}"]
        minimal.run(built, files, argument, printed.append, folder)
        try:
            return parse(printed, touched.read_text())
        except KlocError as error:
            hint = f"its console is in {folder / 'console'}"
            raise KlocError(f"the {column.name} kernel: {error.message}", hint) from error


def middle(runs: Sequence[tuple[Group, ...]]) -> tuple[Group, ...]:
    """Return what is in the middle of several runs of the same groups, figure by figure."""
    return tuple(
        Group(
            same[0].name,
            same[0].rounds,
            median(group.instructions for group in same),
            median(group.lines for group in same),
            tuple(
                _middle_call(calls) for calls in zip(*(group.calls for group in same), strict=True)
            ),
        )
        for same in zip(*runs, strict=True)
    )


def _middle_call(same: Sequence[Call]) -> Call:
    return Call(
        same[0].name,
        median_low(call.instructions for call in same),
        median_low(call.lines for call in same),
    )
