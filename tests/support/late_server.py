# SPDX-License-Identifier: GPL-2.0
"""A Debian server, with Debian's kernel, whose slow memory is offline after each boot.

The memory is a module in a slot, as that of a CXL device is to the kernel: somebody, on a server
daxctl, has to bring its blocks online.
"""

from __future__ import annotations

from pathlib import Path

from kloc.build import bootstrap
from kloc.machine.qemu import CPU
from kloc.machine.topology import Node, Topology
from support import server_vm
from support.server_vm import DISK_BYTES, FILES, PARAMETERS, TOPOLOGY, Server, make_file_system
from support.uefi_server import extract_kernel

PACKAGES = (
    *server_vm.PACKAGES,
    "initramfs-tools",
    "linux-image-cloud-amd64",
    "zstd",
)
"""What the server has."""

FAST, SLOW = TOPOLOGY.nodes
"""The nodes of a server that has its slow memory at boot."""


class LateServer(Server):
    """A server that boots with the memory of one tier."""

    def boot_arguments(self) -> tuple[list[str], list[Path]]:
        """Return QEMU's arguments for Debian's kernel and its initramfs."""
        kernel, initramfs = (self.path / name for name in ("vmlinuz", "initrd.img"))
        parameters = f"root=/dev/vda {PARAMETERS} memhp_default_state=offline"
        argv = ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", parameters]
        return argv, [self.path]

    def hardware_arguments(self) -> list[str]:
        """Return QEMU's arguments: the slow node is empty, and a module in a slot belongs to it."""
        empty = Node(initiator=SLOW.initiator, speed=SLOW.speed)
        argv = Topology((FAST, empty)).hardware_arguments(CPU)
        memory = argv.index("-m") + 1
        argv[memory] += f",slots=1,maxmem={4 << 10}M"
        return [
            *argv,
            *("-object", f"memory-backend-ram,id=module,size={SLOW.memory}"),
            *("-device", "pc-dimm,memdev=module,node=1"),
        ]


def make(directory: Path) -> LateServer:
    """Return a new server, whose disk and kernel are in `directory`."""
    tar = directory / "root.tar"
    bootstrap.bootstrap("a Debian server with a kernel", PACKAGES, tar, seconds=120, pinned=True)
    extract_kernel(tar, directory)
    make_file_system(tar, FILES, directory / "disk", DISK_BYTES)
    tar.unlink()
    return LateServer(directory)
