# SPDX-License-Identifier: GPL-2.0
"""The kernels whose cost is measured, each a column of the table, and the bounds of their overhead.

A kernel's overhead is its cost in addition to that of the unpatched kernel. Both have the same
compiler and, as far as it exists in both, the same configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kloc.base.errors import unknown
from kloc.build import kernel

BOUND = 0.002
"""The bound of the overhead of disabled patches, as a fraction of instructions."""

SLABS_BOUND = 0.02
"""The bound of the overhead of slabs that can move."""

ON_BOUND = 0.01
"""The bound of the overhead of the policy kloc while it has nothing to move."""

MEMORY_BOUND = 0.01
"""The bound of contexts' memory, as a fraction of their pages; here a context has about 16 KiB."""

SELECT_KLOC = {"/sys/kernel/mm/tiering/policy": "kloc"}
"""Selects the policy with contexts of files."""


@dataclass(frozen=True)
class Column:
    """A kernel to measure: a variant of kloc.build.kernel, and values written to its files.

    `settings` are written before the first call, like those of a policy. The key "process" is
    no file: see calls.c. `bound` limits the overhead over REFERENCE in the first group of calls,
    as a fraction of instructions; None is no limit. `parameters` are for the kernel.
    """

    name: str
    summary: str
    variant: str
    settings: Mapping[str, str] = field(default_factory=dict)
    bound: float | None = BOUND
    parameters: Sequence[str] = ()


REFERENCE = Column("unpatched", "Debian's source, with our configuration", kernel.UNPATCHED)

COLUMNS = (
    REFERENCE,
    Column("base", "our patches, with CONFIG_TIERING and CONFIG_KLOC_MACHINE off", "base"),
    Column("kloc", "CONFIG_TIERING on, policy none selected", "kloc"),
    Column("machine", "as kloc, with CONFIG_KLOC_MACHINE on and without a timing model", "machine"),
    Column(
        "slabs",
        "as kloc, with dentries and inodes of ext4 in relocatable slabs",
        "kloc",
        bound=SLABS_BOUND,
        parameters=("reloc.caches=dentry,ext4_inode_cache",),
    ),
    Column(
        "chosen",
        "policy kloc with contexts for chosen processes; another one is chosen, this one is not",
        "kloc",
        {"/sys/kernel/mm/kloc/scope": "chosen", **SELECT_KLOC, "process": "chosen"},
        ON_BOUND,
    ),
    Column(
        "on",
        "policy kloc with contexts for all files, with enough fast memory for all pages",
        "kloc",
        SELECT_KLOC,
        ON_BOUND,
    ),
    Column(
        "short",
        "as on, but fast memory is short, so closed files are demoted; scans are ten times as "
        "frequent",
        "kloc",
        {
            # Fast memory is short when less than twice of what kswapd keeps free is.
            "/proc/sys/vm/watermark_scale_factor": "3000",
            "/sys/kernel/mm/tiering/scan_us": "100000",
            **SELECT_KLOC,
        },
        None,
    ),
)
"""All kernels that can be measured. Another configuration or state is another column."""


def choose(names: Sequence[str]) -> list[Column]:
    """Return the columns `names`, or all if there are no names; REFERENCE is always the first.

    Raises KlocError for a name that is not in COLUMNS.
    """
    known = {column.name: column for column in COLUMNS}
    for name in names:
        if name not in known:
            raise unknown("kernel", name, known)
    return [
        column for column in COLUMNS if column is REFERENCE or not names or column.name in names
    ]
