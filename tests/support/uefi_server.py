# SPDX-License-Identifier: GPL-2.0
"""A Debian server that boots from its own disk with UEFI, GRUB and an initramfs.

Its disk has a GPT, an EFI system partition (ESP) and a root file system. They are made without
devices and mounts; what must be done on a running system, Debian's tools do in the first boot, for
which QEMU loads the server's own kernel and initramfs, as an installer is booted from elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from kloc.build import bootstrap, ext4, root
from support import server_vm
from support.server_vm import PARAMETERS, Server, make_file_system

PACKAGES = (
    *server_vm.PACKAGES,
    "dosfstools",
    "efibootmgr",
    "grub-efi-amd64",
    "initramfs-tools",
    "libelf1t64",
    "linux-image-cloud-amd64",
    "zstd",
)
"""What a small Debian server has that boots with UEFI, with what linux-headers depends on."""

TOOLS = ("dosfstools", "fdisk", "ovmf")
"""What makes the disk, and the firmware, OVMF. The tool root has none of them."""

FIRMWARE = Path("usr/share/OVMF")
"""Where OVMF is in the root with TOOLS."""

CODE, VARIABLES = "OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"
"""The flash memory with OVMF's program, and that with its variables, such as the boot entries."""

MIB = 1 << 20
DISK_BYTES = 4 << 30
ESP_AT, ESP_BYTES = 1 * MIB, 512 * MIB
ROOT_AT = ESP_AT + ESP_BYTES
ROOT_BYTES = DISK_BYTES - ROOT_AT - 1 * MIB
"""The disk and its partitions. The last MiB has the copy of the GPT."""

PARTITIONS = f"""\
label: gpt
start={ESP_AT // MIB}MiB, size={ESP_BYTES // MIB}MiB, type=uefi
start={ROOT_AT // MIB}MiB, size={ROOT_BYTES // MIB}MiB, type=linux
"""
"""What sfdisk reads."""

ESP_ID = "4B4C-4F43"
"""The UUID of the ESP's file system."""

FSTAB = f"""\
UUID={ext4.UUID} / ext4 errors=remount-ro 0 1
UUID={ESP_ID} /boot/efi vfat umask=0077 0 1
"""

GRUB = f"""\
# The firmware of the test has a serial console and no screen.
GRUB_CMDLINE_LINUX="{PARAMETERS}"
GRUB_TIMEOUT=1
"""

FILES = {
    **server_vm.FILES,
    "etc/fstab": (FSTAB, 0o644),
    "etc/default/grub.d/server.cfg": (GRUB, 0o644),
}
"""Files of the server that Debian's packages do not have, with their modes."""

INSTALL = r"""
[ -d /sys/firmware/efi/efivars ]
mkdir -p /boot/efi/EFI
grub-install
update-grub
efibootmgr
"""
"""What Debian's installer does last: GRUB, its menu, and the firmware's boot entry."""


@dataclass
class UefiServer(Server):
    """A server that its firmware boots; until `installed`, QEMU loads Debian's kernel."""

    installed: bool = False

    def boot_arguments(self) -> tuple[list[str], list[Path]]:
        """Return QEMU's arguments for the firmware and, for the installation, the kernel."""
        code, variables = (self.path / name for name in (CODE, VARIABLES))
        argv = [
            *("-blockdev", f"driver=file,node-name=code,read-only=on,filename={code}"),
            *("-blockdev", f"driver=file,node-name=variables,filename={variables}"),
            *("-machine", "pflash0=code,pflash1=variables"),
        ]
        if not self.installed:
            kernel, initramfs = (self.path / name for name in ("vmlinuz", "initrd.img"))
            parameters = f"root=UUID={ext4.UUID} {PARAMETERS}"
            argv += ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", parameters]
        return argv, [self.path]


def make(directory: Path) -> UefiServer:
    """Return a new server, whose disk and firmware are in `directory`."""
    server = UefiServer(directory)
    tools = _tools(directory)
    for name in (CODE, VARIABLES):
        shutil.copy(tools.path / FIRMWARE / name, directory / name)
    packages = directory / "packages.tar"
    what = "a Debian server with a kernel and GRUB"
    bootstrap.bootstrap(what, PACKAGES, packages, seconds=120, pinned=True)
    extract_kernel(packages, directory)
    _make_disk(tools, packages, directory / "disk")
    packages.unlink()
    server.boot(INSTALL)
    server.installed = True
    return server


def _tools(directory: Path) -> root.Root:
    """Return a root with TOOLS."""
    tar, draft = directory / "tools.tar", directory / "tools"
    draft.mkdir()
    bootstrap.bootstrap("a root with OVMF", TOOLS, tar, seconds=40, pinned=True)
    return root.unpack(tar, draft)


def extract_kernel(packages: Path, directory: Path) -> None:
    """Write Debian's kernel and its initramfs in the tar file `packages` to `directory`."""
    with tarfile.open(packages) as source:
        for member in source:
            if found := re.fullmatch(r"\./boot/(vmlinuz|initrd\.img)-.*", member.name):
                content = source.extractfile(member)
                assert content is not None
                (directory / found[1]).write_bytes(content.read())


def _make_disk(tools: root.Root, packages: Path, disk: Path) -> None:
    """Make `disk` with its partitions: an empty ESP, and the root in the tar file `packages`."""
    with disk.open("wb") as file:
        file.truncate(DISK_BYTES)
    binds = [disk.parent]
    tools.run(["sfdisk", "--quiet", str(disk)], binds=binds, stdin=PARTITIONS)
    # The last argument is the size in KiB, and the offset is in sectors.
    vfat = ["mkfs.vfat", "-F", "32", "-i", ESP_ID.replace("-", ""), "--offset", str(ESP_AT // 512)]
    tools.run([*vfat, str(disk), str(ESP_BYTES >> 10)], binds=binds)
    image = disk.with_name("root")
    make_file_system(packages, FILES, image, ROOT_BYTES)
    copy = ["dd", f"if={image}", f"of={disk}", "bs=1M", f"seek={ROOT_AT // MIB}"]
    subprocess.run([*copy, "conv=notrunc,sparse", "status=none"], check=True)
    image.unlink()
