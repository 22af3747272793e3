# SPDX-License-Identifier: GPL-2.0
"""Made-up sysfs, debugfs and procfs files of a kernel with contexts, in a directory."""

from __future__ import annotations

from pathlib import Path

CONTEXTS = """\
id kind active age open cpu fast slow dev ino path
1 file 0 0 0 0 0 0 8:1 2 /
2 file 1 0 1 1 512 256 8:1 12 /var/lib/a\\040b
3 file 0 7 0 0 0 25600 8:1 13 /srv/backup
4 blockdev 1 1 0 0 128 0 8:1 9 -
5 file 0 3 0 0 64 0 8:17 14 /deep/er/file
6 file 0 200 1 3 1 0 0:31 15 -
7 file 0 0 0 2 0 0 8:1 16 /var/lib/c
8 file 0 2 0 0 2 0 8:33 17 /else[where]
"""

SLABS = """\
cache fast fast_unused slow slow_unused promoted demoted slow_away
dentry 512 256 1024 768 12 1036 512
ext4_inode_cache 2048 0 8192 8192 100 9000 8192
"""

MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:21 / /sys rw - sysfs sysfs rw
23 21 8:1 /var/lib /mnt/bound rw - ext4 /dev/sda1 rw
24 21 8:17 /deep /mnt/with\\040space rw - xfs /dev/sdb1 rw
"""

COUNTS = {
    "file/demoted_inactive": 40000,
    "file/demoted_inactive_freed": 2000,
    "file/demoted_inactive_returned": 1000,
    "file/demoted_unused": 1000,
    "file/demoted_unused_freed": 50,
    "file/demoted_unused_returned": 0,
    "file/demoted_old": 0,
    "file/promoted_active": 3000,
    "file/promoted_active_freed": 300,
    "file/promoted_active_returned": 600,
    "file/promoted_used": 500,
    "file/not_moved_pinned": 76,
    "file/not_moved_busy": 400,
    "file/not_moved_failed": 5000,
    "file/placed_fast": 90000,
    "file/placed_slow": 10000,
    "anon/demoted_old": 0,
    "blockdev/demoted_unused": 24,
}

SETTINGS = {
    "tiering/policies": "none naive kloc kloc-cap",
    "tiering/policy": "kloc",
    "tiering/has_contexts": "1",
    "tiering/scan_us": "1000000",
    "tiering/rate_mbps": "512",
    "tiering/pin": "8",
    "tiering/page_bytes": "2097152",
    "tiering/kloc/inactive_age": "8",
    "tiering/kloc-cap/share": "50",
    "kloc/scope": "all",
    "kloc/kinds": "file blockdev slab",
    "kloc/knodes": "8",
    "kloc/knode_bytes": "1048576",
    "tiering/node0/max_kb": "max",
}
"""The content of files in /sys/kernel/mm."""

KERNEL_SETTINGS = {
    "sys/kernel/mm/numa/demotion_enabled": "true",
    "proc/sys/kernel/numa_balancing": "2",
    "proc/sys/vm/watermark_boost_factor": "0",
}


def make(root: Path, **changed: str) -> Path:
    """Create the files under `root`, and return `root`.

    `changed` has other values of settings, by the file's name.
    """
    files = {
        f"sys/kernel/mm/{path}": f"{changed.get(path.rpartition('/')[2], value)}\n"
        for path, value in SETTINGS.items()
    }
    files |= {
        path: f"{changed.get(path.rpartition('/')[2], value)}\n"
        for path, value in KERNEL_SETTINGS.items()
    }
    files |= {f"sys/kernel/mm/tiering/stats/{name}": f"{value}\n" for name, value in COUNTS.items()}
    files["sys/kernel/debug/kloc/contexts"] = CONTEXTS.replace(" ", "\t")
    files["sys/kernel/debug/reloc/caches"] = SLABS.replace(" ", "\t")
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
