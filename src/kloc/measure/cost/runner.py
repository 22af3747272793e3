# SPDX-License-Identifier: GPL-2.0
"""Measures the cost of system calls on several kernels: instructions and cache lines.

machine/bench/calls.c makes the same calls on each kernel, under QEMU's -icount. Kernels have the
same compiler, so the difference of two kernels is what one of them has in addition.

A run is deterministic. Its result also depends on where objects are in memory and when the timer
ticks, and both differ from kernel to kernel: this alone changes a round of fork, exit and wait by
up to 0.3 %. Therefore each kernel is measured in several memory layouts, and the result is the
median.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, median_low

from kloc.base import cache, paths, progress
from kloc.base.errors import KlocError
from kloc.build import data_image, kernel, plugin, programs, root
from kloc.machine import minimal
from kloc.measure.cost.kernels import Column
from kloc.measure.cost.parser import Call, Group, Memory, Run, parse

CALLS = paths.shipped("machine", "bench", "calls.c")
"""The program that makes the system calls."""

DISK_BYTES = 16 << 20
"""The size of the disk that the program gets."""

LAYOUTS = 5
"""Each kernel is measured in this many memory layouts (see calls.c)."""


@dataclass(frozen=True)
class Measured:
    """A kernel with the cost of its calls, and the memory of contexts if there are any."""

    column: Column
    built: kernel.Kernel
    groups: tuple[Group, ...]
    memory: Memory | None = None


def measure(columns: Iterable[Column], layouts: int = LAYOUTS) -> list[Measured]:
    """Build all kernels, then measure one after the other in `layouts` memory layouts.

    Raises KlocError, which names the kernel, if a build or a measurement fails.
    """
    kernels = [(column, kernel.build(column.variant)) for column in columns]
    return [_measure(column, built, layouts) for column, built in kernels]


def _measure(column: Column, built: kernel.Kernel, layouts: int) -> Measured:
    runs = [_run(column, built, layout) for layout in range(layouts)]
    # The memory of contexts is the same in all layouts.
    return Measured(column, built, middle([groups for groups, _ in runs]), runs[0][1])


def _run(column: Column, built: kernel.Kernel, layout: int) -> Run:
    """Measure a kernel in one memory layout."""
    printed: list[str] = []
    files = {
        "init": programs.build(CALLS),
        "disk": data_image.data_image(root.tool_root(), DISK_BYTES),
    }
    counter = plugin.build_counter()
    with (
        cache.scratch(f"cost-{column.name}") as directory,
        progress.shown(f"measuring the {column.name} kernel, layout {layout + 1}"),
    ):
        files["settings"], files["layout"] = directory / "written", directory / "number"
        files["settings"].write_text(
            "".join(f"{path} {value}\n" for path, value in column.settings.items())
        )
        files["layout"].write_text(f"{layout}\n")
        touched = directory / "lines"
        arguments = [str(counter), f"output={touched}"]
        minimal.run(built, files, arguments, printed.append, directory, column.parameters)
        try:
            return parse(printed, touched.read_text())
        except KlocError as error:
            hint = f"see the console, {directory / 'console'}"
            raise KlocError(f"the {column.name} kernel: {error.message}", hint) from error


def middle(runs: Sequence[tuple[Group, ...]]) -> tuple[Group, ...]:
    """Return the median of each figure over several runs of the same groups."""
    return tuple(
        Group(
            groups[0].name,
            groups[0].rounds,
            median(group.instructions for group in groups),
            median(group.lines for group in groups),
            tuple(
                _middle_call(calls)
                for calls in zip(*(group.calls for group in groups), strict=True)
            ),
        )
        for groups in zip(*runs, strict=True)
    )


def _middle_call(calls: Sequence[Call]) -> Call:
    """Return the median of each figure over several runs of the same call."""
    return Call(
        calls[0].name,
        median_low(call.instructions for call in calls),
        median_low(call.lines for call in calls),
    )
