# SPDX-License-Identifier: GPL-2.0
"""Made-up sysfs, debugfs and procfs files of a kernel with contexts, in a directory."""

from __future__ import annotations

from pathlib import Path

CONTEXTS = """\
id kind active age openers heat cpu fast slow dev ino path
1 directory 0 0 0 1 0 0 0 8:1 2 /
2 file 1 0 2 3 1 512 256 8:1 12 /var/lib/a\\040b
3 file 0 7 0 1 0 0 25600 8:1 13 /srv/backup
4 blockdev 1 1 0 2 0 128 0 8:1 9 -
5 file 0 3 0 1 0 64 0 8:17 14 /deep/er/file
6 file 0 200 1 1 3 1 0 0:31 15 -
7 directory 0 0 0 4 2 0 0 8:1 16 /var/lib
8 file 0 2 0 1 0 2 0 8:33 17 /else[where]
"""

MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:21 / /sys rw - sysfs sysfs rw
23 21 8:1 /var/lib /mnt/bound rw - ext4 /dev/sda1 rw
24 21 8:17 /deep /mnt/with\\040space rw - xfs /dev/sdb1 rw
"""

STAT = """\
demoted_inactive_file 40000
demoted_inactive_blockdev 0
demoted_unused_file 1000
demoted_unused_blockdev 24
demoted_last_file 0
promoted_whole_file 3000
promoted_used_file 500
not_moved_pinned_file 76
not_moved_busy_file 400
not_moved_unpaid_file 5000
placed_fast_file 90000
placed_slow_file 10000
predicted_file 12
mispredicted_file 3
trial_level1_pages 7
trial_level1_uses 2
knodes 8
knode_bytes 1048576
page_bytes 2097152
kmap_lookups_saved 9000
kmap_lookups 1000
"""

SETTINGS = {
    "enabled": "1",
    "mode": "migrate",
    "scope": "all",
    "kinds": "file blockdev",
    "rate_mbps": "0",
    "reserve_pages": "1540",
}


def make(root: Path, **changed: str) -> Path:
    """Create the files under `root`, with some settings `changed`, and return `root`."""
    settings = {**SETTINGS, **changed}
    files = {f"sys/kernel/mm/kloc/{name}": f"{value}\n" for name, value in settings.items()}
    files["sys/kernel/mm/kloc/stat"] = STAT
    files["sys/kernel/mm/kloc/node0/max_kb"] = "max\n"
    files["sys/kernel/debug/kloc/contexts"] = CONTEXTS.replace(" ", "\t")
    files["proc/self/mountinfo"] = MOUNTS
    files["sys/fs/cgroup/a/memory.kloc.max"] = "max\n"
    files["sys/fs/cgroup/a/memory.kloc.enabled"] = "0\n"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    devices = root / "sys/dev/block"
    devices.mkdir(parents=True)
    for number, name in {"8:1": "sda1", "8:17": "sdb1", "8:33": "sdc1"}.items():
        (devices / number).symlink_to(f"../../devices/{name}")
    return root
