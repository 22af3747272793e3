# SPDX-License-Identifier: GPL-2.0
"""What our patches cost, off and on: instructions and cache lines of system calls.

machine/bench/calls.c makes the calls, on each kernel, under QEMU's -icount; the difference
between two kernels of the same configuration and compiler is what the one has and the other has
not. Nothing is left to chance; but where objects lie and when the timer ticks, which differs from
kernel to kernel, is worth up to 0.3 % of a round of fork, exit and wait. So each kernel is measured
in several layouts of memory, and the median is what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kloc.base.errors import unknown
from kloc.base.paths import PROJECT
from kloc.build import kernel

if TYPE_CHECKING:
    pass
CALLS = PROJECT / "machine" / "bench" / "calls.c"
DISK_BYTES = 16 << 20

LAYOUTS = 5
"""In how many layouts of memory a kernel is measured; calls.c has what a layout is."""

BOUND = 0.002
"""What our patches may cost while they are off: a fraction of the instructions."""

ON_BOUND = 0.01
"""What contexts may cost that are on, while there is nothing for them to do."""

MEMORY_BOUND = 0.01
"""What contexts may take: a fraction of the pages that they hold, here some 16 KiB each."""

CONTEXTS = "/sys/kernel/mm/kloc"


@dataclass(frozen=True)
class Column:
    """A kernel that is measured: a variant of kloc.build.kernel, and what is written to which file.

    `settings` are written before the first call, as a policy's are. `bound` is the fraction of
    the first group's instructions that it may take more than the reference, None for any.
    """

    name: str
    summary: str
    variant: str
    settings: Mapping[str, str] = field(default_factory=dict)
    bound: float | None = BOUND


REFERENCE = Column("unpatched", "Debian's source, with our configuration", kernel.UNPATCHED)

COLUMNS = (
    REFERENCE,
    Column("base", "our patches, CONFIG_KLOC and CONFIG_KLOC_MACHINE off", "base"),
    Column("kloc", "CONFIG_KLOC on, contexts switched off", "kloc"),
    Column("machine", "the same, CONFIG_KLOC_MACHINE on, and no timing model", "machine"),
    Column(
        "chosen",
        "contexts switched on for chosen processes; another is one, and this is none",
        "kloc",
        {f"{CONTEXTS}/scope": "chosen", f"{CONTEXTS}/enabled": "1", "process": "chosen"},
        ON_BOUND,
    ),
    Column(
        "on",
        "contexts switched on, all files have one, and there is room for all",
        "kloc",
        {f"{CONTEXTS}/enabled": "1"},
        ON_BOUND,
    ),
    Column(
        "short",
        "the same, but room gets short: uses of pages are noted, too; ten scans where one is usual",
        "kloc",
        {
            f"{CONTEXTS}/reserve_pages": "10000",
            f"{CONTEXTS}/scan_us": "100000",
            f"{CONTEXTS}/enabled": "1",
        },
        None,
    ),
)
"""What can be measured; a kernel of another configuration, or in another state, is one more."""


def choose(names: Sequence[str]) -> list[Column]:
    """Return the columns of these names, of all if there are none; the reference is first.

    A name that is none of COLUMNS: KlocError.
    """
    known = {column.name: column for column in COLUMNS}
    for name in names:
        if name not in known:
            raise unknown("kernel", name, known)
    return [each for each in COLUMNS if each is REFERENCE or not names or each.name in names]
