# SPDX-License-Identifier: GPL-2.0
"""A Debian server with systemd boots in a virtual machine, and its kernel sees two tiers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import server_vm
from support.in_machine import split_parts

pytestmark = pytest.mark.soak

SCRIPT = """
part() { echo "== $1"; }
part running; systemctl is-system-running --wait || true
part failed; systemctl --failed --plain --no-legend --no-pager
part manager; cat /proc/1/comm
part virtual; systemd-detect-virt
part root; findmnt --noheadings --output SOURCE,FSTYPE /
part tiers; sort -n /sys/devices/virtual/memory_tiering/*/nodelist
part memory; cat /sys/devices/system/node/has_memory
part cpus; cat /sys/devices/system/node/has_cpu
"""


def test_server_boots_with_systemd_and_two_tiers(tmp_path: Path) -> None:
    printed = server_vm.make(tmp_path).boot(SCRIPT)
    assert {name: text.split() for name, text in split_parts(printed).items()} == {
        "running": ["running"],
        "failed": [],
        "manager": ["systemd"],
        "virtual": ["qemu"],
        "root": ["/dev/vda", "ext4"],
        "tiers": ["0", "1"],
        "memory": ["0-1"],
        "cpus": ["0"],
    }
