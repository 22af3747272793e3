# SPDX-License-Identifier: GPL-2.0
"""The packages of kloc and of its kernel on a Debian server that boots with UEFI and GRUB.

As docs/server.md says, they are installed under Debian's kernel, used after a reboot, upgraded, and
removed again. Each boot goes through the firmware, GRUB and the initramfs on the server's own disk.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kloc.build import deb, kernel_package
from kloc.build.kernel_package import Packages
from support import uefi_server
from support.in_machine import split_parts
from support.server_packages import NEWER, newer_kernel, newer_kloc
from support.server_scripts import (
    ACTIVE,
    FUNCTIONS,
    KLOC,
    RESTORED,
    STOPPED,
    changes,
    findings,
    left,
)
from support.uefi_server import UefiServer

pytestmark = pytest.mark.soak

KERNEL_NEWER = "+newer"
"""What the version of the kernel's packages that are upgraded to has at its end."""

MENU = r"""
menu() { sed -n "s/.*\$menuentry_id_option '\([^']*\)'.*/\1/p" /boot/grub/grub.cfg; }
# The files of the ESP, too, which is another file system.
files() { find / /boot/efi /run -xdev | sort -u; }
"""
"""Functions of this module's scripts: the entries of GRUB's menu, and all files."""

INSTALL = r"""
part kernel; uname -r | tee /root/debian
part firmware; efibootmgr | sed -n 's/^BootCurrent: //p'; efibootmgr | grep '[*] debian'
part mounts; findmnt --noheadings --output SOURCE,FSTYPE /
findmnt --noheadings --output SOURCE,FSTYPE /boot/efi
part tiers; sort -n /sys/devices/virtual/memory_tiering/*/nodelist
settings >/root/settings-debian
files >/root/files
cp /boot/grub/grub.cfg /root
part install; apt-get install --yes ./*.deb
part menu; menu
part initramfs
lsinitramfs "/boot/initrd.img-$RELEASE" | grep -oE '/(dm-mod|virtio_blk)[.]ko'
part inactive; systemctl is-enabled kloc || true
before=/root/settings-debian; changed
part doctor; kloc doctor --server --json || echo 'status 1'
"""
"""The boot with Debian's kernel: installs the packages."""

USE = r"""
part kernel; uname -r; cat /proc/sys/kernel/tainted
part tiers; sort -n /sys/devices/virtual/memory_tiering/*/nodelist
settings >/root/settings
part doctor_off; kloc doctor --server --json || echo 'status 1'
part enable; systemctl enable --now kloc
part on; state kloc; changed
part doctor_on; kloc doctor --server --json
part first; kloc status --json
mkdir /srv/files
head -c 60000000 /dev/zero >/srv/large
for i in $(seq 300); do echo $i >/srv/files/$i; done
part read; cat /srv/large /srv/files/* | wc -c
part second; kloc status --json
part top; kloc top --once --lines 1 --sort size
part off; kloc off; changed
part on_again; kloc on; cat /sys/kernel/mm/tiering/policy
part modules; modprobe --verbose xfs | wc -l; grep -c '^xfs ' /proc/modules
cat /proc/sys/kernel/tainted
part headers; ls "$(readlink -f "/lib/modules/$RELEASE/build")/Makefile"
started >started
part upgrade; apt-get install --yes --option=Dpkg::Options::=--force-confold ./*.deb
part upgraded
dpkg-query --show --showformat='${Version}\n' kloc "linux-headers-$RELEASE" "linux-image-$RELEASE"
part menu; menu
part untouched; state kloc; [ "$(started)" = "$(cat started)" ] && echo "not restarted"
cat /sys/kernel/mm/tiering/policy
"""
"""The first boot with kloc's kernel: uses it, and upgrades the packages."""

LEAVE = r"""
part kernel; uname -r
part booted; state kloc; changed
part off; systemctl disable --now kloc 2>&1; state kloc; changed
part choose
entry=$(menu | grep -F "gnulinux-$(cat /root/debian)-advanced-")
parent=$(menu | grep -F gnulinux-advanced-)
cp /etc/default/grub /root/grub
sed -i "s/^GRUB_DEFAULT=.*/GRUB_DEFAULT='$parent>$entry'/" /etc/default/grub
update-grub 2>&1
part failed_later; failed
"""
"""The second boot with kloc's kernel: turns kloc off, and has GRUB boot Debian's kernel."""

REMOVE = r"""
part kernel; uname -r
part doctor; kloc doctor --server --json || echo 'status 1'
part refused; kloc on 2>&1 || echo "status $?"
part purge; apt-get purge --yes "linux-image-$RELEASE" "linux-headers-$RELEASE" kloc
cp /root/grub /etc/default/grub
update-grub 2>&1
part packages; dpkg-query --show '*kloc*' 2>/dev/null || echo none
before=/root/settings-debian
part purged; changed
part menu; menu
part grub; cmp /boot/grub/grub.cfg /root/grub.cfg && echo same
part failed_later; failed
part left
rm -r /srv/files /srv/large
files | diff /root/files - | grep '^[<>]' || true
part names; find / /run /boot/efi -xdev -name '*kloc*'
"""
"""The boot with Debian's kernel in which the packages are removed."""

AFTER = r"""
part kernel; uname -r
before=/root/settings-debian
part settings; changed
"""
"""The last boot."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The kernel's packages; the build takes over an hour the first time."""
    return kernel_package.build("cloud-amd64", tmp_path_factory.mktemp("kernel"))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package kloc."""
    return deb.build(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def newer(kernel: Packages, package: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The packages that are upgraded to."""
    directory = tmp_path_factory.mktemp("newer")
    version = f"{kernel.version.package}{KERNEL_NEWER}"
    return [
        newer_kernel(kernel.image, directory / "image.deb", version),
        newer_kernel(kernel.headers, directory / "headers.deb", version),
        newer_kloc(package, directory / "kloc.deb"),
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> UefiServer:
    """The server, before anything is installed."""
    return uefi_server.make(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def functions(kernel: Packages) -> str:
    """The beginning of all scripts."""
    return f"RELEASE={kernel.version.release}\n{MENU}{FUNCTIONS}"


@pytest.fixture(scope="module")
def installed(
    server: UefiServer, functions: str, kernel: Packages, package: Path
) -> dict[str, str]:
    """The parts of the boot that installs the packages."""
    files = [kernel.image, kernel.headers, package]
    return split_parts(server.boot(functions + INSTALL, files))


@pytest.fixture(scope="module")
def used(
    server: UefiServer, functions: str, installed: dict[str, str], newer: list[Path]
) -> dict[str, str]:
    """The parts of the first boot with kloc's kernel."""
    return split_parts(server.boot(functions + USE, newer))


@pytest.fixture(scope="module")
def turned_off(server: UefiServer, functions: str, used: dict[str, str]) -> dict[str, str]:
    """The parts of the second boot with kloc's kernel."""
    return split_parts(server.boot(functions + LEAVE))


@pytest.fixture(scope="module")
def removed(server: UefiServer, functions: str, turned_off: dict[str, str]) -> dict[str, str]:
    """The parts of the boot that removes the packages."""
    return split_parts(server.boot(functions + REMOVE))


@pytest.fixture(scope="module")
def after(server: UefiServer, functions: str, removed: dict[str, str]) -> dict[str, str]:
    """The parts of the last boot."""
    return split_parts(server.boot(functions + AFTER))


def entries(part: str, release: str) -> list[str]:
    """Return the entries of GRUB's menu that boot the kernel `release`."""
    return [line for line in part.splitlines() if line.startswith(f"gnulinux-{release}-")]


def test_server_boots_from_its_disk_with_debians_kernel(installed: dict[str, str]) -> None:
    assert installed["running"] == "running\n"
    assert re.fullmatch(r"6\.12\.[0-9]+\+deb13-cloud-amd64\n", installed["kernel"])
    current, entry = installed["firmware"].splitlines()
    assert entry.startswith(f"Boot{current}* debian")
    assert r"\EFI\debian\grubx64.efi" in entry
    assert installed["mounts"].split() == ["/dev/vda2", "ext4", "/dev/vda1", "vfat"]
    assert installed["tiers"].split() == ["0", "1"]


def test_installation_adds_the_kernel_to_grub_and_turns_nothing_on(
    installed: dict[str, str], kernel: Packages
) -> None:
    release = kernel.version.release
    assert f"Setting up linux-image-{release}" in installed["install"]
    assert f"Found initrd image: /boot/initrd.img-{release}" in installed["install"]
    assert len(entries(installed["menu"], release)) == 2
    # They are modules in Debian's configuration: without the initramfs, there is no disk.
    assert sorted(installed["initramfs"].split()) == ["/dm-mod.ko", "/virtio_blk.ko"]
    assert installed["inactive"] == f"disabled\n{RESTORED}"


def test_doctor_says_that_debians_kernel_runs(
    installed: dict[str, str], removed: dict[str, str]
) -> None:
    for part in (installed["doctor"], removed["doctor"]):
        assert part.endswith("status 1\n")
        assert not findings(part)["kernel"]["well"]
        assert findings(part)["tiers"]["well"]


def test_grub_boots_klocs_kernel_and_its_modules_are_signed(
    used: dict[str, str], kernel: Packages
) -> None:
    assert (used["running"], used["failed"]) == ("running\n", "")
    assert used["kernel"] == f"{kernel.version.release}\n0\n"
    assert used["tiers"].split() == ["0", "1"]
    inserted, loaded, tainted = map(int, used["modules"].split())
    assert (inserted > 0, loaded, tainted) == (True, 1, 0)
    assert used["headers"].strip().endswith(f"linux-headers-{kernel.version.release}/Makefile")


def test_doctor_finds_tiers_and_a_kernel_with_policies(used: dict[str, str]) -> None:
    found = findings(used["doctor_off"])
    assert [name for name, one in found.items() if not one["well"]] == ["policy"]
    found = findings(used["doctor_on"])
    assert [name for name, one in found.items() if not one["well"]] == []


def test_service_selects_the_policy_and_files_have_contexts(used: dict[str, str]) -> None:
    assert used["on"].splitlines()[0] == ACTIVE
    assert changes(used["on"]) == KLOC
    first, second = (json.loads(used[name]) for name in ("first", "second"))
    assert second["policy"] == "kloc"
    placed = sum(second["placed"].values()) - sum(first["placed"].values())
    assert placed >= int(used["read"]) // second["page_bytes"]
    assert second["contexts"]["file"]["number"] > first["contexts"]["file"]["number"] + 300
    assert "/srv/large" in used["top"]
    assert used["off"] == f"kloc is off, and what it had set is restored\n{RESTORED}"
    assert used["on_again"].splitlines()[-1] == "kloc"


def test_upgrade_changes_nothing_that_runs(used: dict[str, str], kernel: Packages) -> None:
    version = f"{kernel.version.package}{KERNEL_NEWER}"
    assert used["upgraded"].split() == [NEWER, version, version]
    assert used["untouched"] == f"{ACTIVE}\nnot restarted\nkloc\n"
    assert len(entries(used["menu"], kernel.version.release)) == 2


def test_service_is_on_after_an_upgrade_and_a_reboot(
    turned_off: dict[str, str], kernel: Packages
) -> None:
    assert turned_off["kernel"] == f"{kernel.version.release}\n"
    assert turned_off["booted"].splitlines()[0] == ACTIVE
    assert changes(turned_off["booted"]) == KLOC
    assert turned_off["off"].endswith(f"{STOPPED}\n{RESTORED}")
    assert turned_off["failed_later"] == ""


def test_grub_boots_debians_kernel_again(
    removed: dict[str, str], installed: dict[str, str]
) -> None:
    assert removed["running"] == "running\n"
    assert removed["kernel"] == installed["kernel"]
    assert removed["refused"].endswith("status 1\n")


def test_purge_leaves_the_server_as_before(
    removed: dict[str, str], after: dict[str, str], installed: dict[str, str]
) -> None:
    assert removed["packages"] == "none\n"
    assert removed["purged"] == RESTORED
    assert removed["grub"] == "same\n"
    assert removed["failed_later"] == ""
    assert left(removed["left"]) == []
    assert removed["names"] == ""
    assert after["running"] == "running\n"
    assert after["kernel"] == installed["kernel"]
    assert after["settings"] == RESTORED
