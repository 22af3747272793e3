# SPDX-License-Identifier: GPL-2.0
"""Made-up measurements of `kloc bench cost`, for tests of its tables and documents."""

from __future__ import annotations

from pathlib import Path

from kloc.build.kernel import Kernel
from kloc.measure.cost.kernels import Column
from kloc.measure.cost.parser import Call, Group, Memory
from kloc.measure.cost.runner import Measured

MEMORY = Memory(contexts=200, knodes=20_800, pages=800, counts=4000, memory=4_000_000)


def measured(
    name: str,
    additional: int = 0,
    memory: Memory | None = None,
    bound: float | None = 0.002,
) -> Measured:
    """Return a kernel whose open() takes `additional` instructions, and touches a line less."""
    column = Column(name, f"the {name} kernel", "kloc", {"/sys/a": "1"}, bound)
    built = Kernel(Path("bzImage"), Path("vmlinux"), Path("config"), "6.12", name)
    fewer_lines = 1 if additional else 0
    files = Group(
        "files",
        4,
        1250 + additional,
        31 - fewer_lines,
        (Call("open", 500 + additional, 20 - fewer_lines), Call("write", 300, 9)),
    )
    processes = Group("processes", 2, 10_000, 401, (Call("fork, exit, wait", 9000, 400),))
    return Measured(column, built, (files, processes), memory)
