# SPDX-License-Identifier: GPL-2.0
"""The admin guide names the file systems that have no operation to move page cache."""

import re
from collections.abc import Iterator
from pathlib import Path

from kloc.base.paths import PROJECT

GUIDE = PROJECT / "kernel/files/Documentation/admin-guide/mm/tiering.rst"

MAPPINGS = re.compile(r"struct address_space_operations\s+(\w+)\s*=\s*\{(.*?)\n\};", re.S)


def without_migration(linux: Path) -> Iterator[str]:
    """Yield the file systems that read page cache of files and have no migrate_folio for it."""
    for path in sorted((linux / "fs").glob("*/*.c")):
        for name, operations in MAPPINGS.findall(path.read_text(errors="replace")):
            reads = ".read_folio" in operations and "symlink" not in name + path.name
            if reads and ".migrate_folio" not in operations:
                yield path.parent.name


def test_file_systems_without_migration_are_named(linux: Path) -> None:
    found = set(without_migration(linux))
    assert {"squashfs", "ecryptfs", "isofs"} <= found
    section = GUIDE.read_text().partition("\nFile systems\n")[2].partition("\nOverhead\n")[0]
    # The modules alone are written as code, beside the operation, the counts and an option.
    named = set(re.findall(r"``(\w+)``", section)) - {"migrate_folio"}
    assert {name for name in named if not name.startswith("not_moved_")} == found
