# SPDX-License-Identifier: GPL-2.0
"""Linux's own periods that every machine divides by its scale, under every policy.

The agent writes them first, so that a policy or a workload may set them itself. docs/machine.md
("Periods of the kernel") lists the periods that stay as they are, with the reasons.
"""

from __future__ import annotations

from kloc.machine.profile import Profile

KHUGEPAGED = "/sys/kernel/mm/transparent_hugepage/khugepaged"

DEFAULTS = {
    "/proc/sys/vm/dirty_expire_centisecs": 3000,
    "/proc/sys/vm/dirty_writeback_centisecs": 500,
    "/proc/sys/vm/dirtytime_expire_seconds": 43200,
    # khugepaged looks at so many pages in a scan, and sleeps so long between scans: as much memory
    # a second as on the full-size machine.
    f"{KHUGEPAGED}/pages_to_scan": 4096,
    f"{KHUGEPAGED}/scan_sleep_millisecs": 10000,
    f"{KHUGEPAGED}/alloc_sleep_millisecs": 60000,
}
"""Linux's defaults of these files."""

COMMIT_SECONDS = 5
"""ext4's default of the mount option `commit`: how often it commits its journal."""


def settings(profile: Profile) -> dict[str, str]:
    """Return the value of each file on a machine."""
    return {path: str(profile.divided(period)) for path, period in DEFAULTS.items()}


def commit_seconds(profile: Profile) -> int:
    """Return ext4's mount option `commit` on a machine: ext4 takes whole seconds, 1 at least."""
    return profile.divided(COMMIT_SECONDS)
