#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""List the code of a kernel source that finds pages or physical addresses of kernel objects.

    python3 tools/slab_addresses.py LINUX

An object of a relocatable slab is not in the linear mapping, so virt_to_page() and its kin must not
be called on it (Documentation/mm/reloc.rst). slab_addresses.toml names the uses that were looked
at, by file, with the reason why they are right. The tool prints the lines of each file that has
another number of uses, and fails if there are any. At each new version of the kernel, look at these
lines, and change the file.

Limits: uses are found by name, in the directories whose code can have a dentry, an inode, a file, a
socket, a buffer head or a node of a tree in hand, and in the drivers that use a TCP socket or take
it over. Other drivers are not searched: they get buffers of kmalloc() and data of socket buffers,
which never move. A use that replaces another one in its file is not seen.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

DIRECTORIES = (
    "block",
    "fs",
    "include/linux",
    "include/net",
    "init",
    "io_uring",
    "ipc",
    "kernel",
    "lib",
    "mm",
    "net",
    "security",
)

DRIVERS = (
    "drivers/block/drbd",
    "drivers/block/nbd.c",
    "drivers/infiniband/hw/erdma/erdma_cm.c",
    "drivers/infiniband/sw/siw",
    "drivers/net/ethernet/chelsio/inline_crypto",
    "drivers/nvme/host/tcp.c",
    "drivers/nvme/target/tcp.c",
    "drivers/scsi/iscsi_tcp.c",
    "drivers/scsi/libiscsi_tcp.c",
    "drivers/target/iscsi",
    "drivers/usb/usbip",
    "drivers/xen/pvcalls-back.c",
)
"""The files and directories of drivers that have a TCP socket in hand."""

USE = re.compile(
    r"\b(?:virt_to_(?:(?:head_)?page|folio|netmem|phys|pfn|gfn)|vmalloc_to_p(?:age|fn)"
    r"|kmap_to_page|sg_set_buf|sg_init_one|bvec_set_virt|(?:ib_)?dma_map_single(?:_attrs)?"
    r"|ib_virt_dma_to_page)\("
)
"""The functions that take a virtual address, apart from casts to physical ones in drivers."""

OF_SLABS = re.compile(r"\b(?:virt_to_slab|slab_folio|folio_slab|folio_test_slab)\b")
"""What a file has in which the address of a page may be that of a slab."""

ADDRESS = re.compile(r"\b(?:page|folio)_address\(")

COMMENT = re.compile(r"^\s*(?:/\*|\*(?:\s|/|$))")

KNOWN = Path(__file__).with_suffix(".toml")


def uses(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines of a file that have a use, without comments."""
    of_slabs = OF_SLABS.search(text)
    for number, line in enumerate(text.splitlines(), 1):
        if COMMENT.match(line):
            continue
        if USE.search(line) or (of_slabs and ADDRESS.search(line)):
            yield number, line.strip()


def known(path: Path = KNOWN) -> dict[str, int]:
    """Return the number of uses that were looked at, by file."""
    found: dict[str, int] = {}
    for entry in tomllib.loads(path.read_text())["known"]:
        assert entry["reason"]
        for name, count in entry["uses"].items():
            assert name not in found, f"{name} is listed twice"
            found[name] = count
    return found


def differences(linux: Path, expected: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each use in files whose number of uses is not the expected one."""
    names = set(expected)
    for name in (*DIRECTORIES, *DRIVERS):
        place = linux / name
        paths = [place] if place.is_file() else place.rglob("*.[ch]")
        names |= {str(path.relative_to(linux)) for path in paths}
    for name in sorted(names):
        path = linux / name
        found = list(uses(path.read_text(errors="replace"))) if path.exists() else []
        if len(found) != expected.get(name, 0):
            yield f"{name}: {len(found)} uses, {expected.get(name, 0)} are known"
            yield from (f"{name}:{number}: {line}" for number, line in found)


def main() -> int:
    """Print what is not known; return the exit status."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    lines = list(differences(Path(sys.argv[1]), known()))
    print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
