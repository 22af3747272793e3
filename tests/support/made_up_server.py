# SPDX-License-Identifier: GPL-2.0
"""Made-up files of a server with kloc's kernel and two tiers, on which kloc is off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support import made_up_kernel, made_up_nodes

DEBUGFS = "sys/kernel/debug/sched/numa_balancing"

FILES = {
    "sys/kernel/mm/lru_gen/enabled": "0x0007",
    "sys/kernel/mm/tiering/thermostat/slowdown_bp": "200",
    "sys/kernel/mm/tiering/thermostat/sample_percent": "5",
    "proc/sys/vm/watermark_scale_factor": "10",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1",
    "proc/self/cgroup": "0::/user.slice",
    "sys/fs/cgroup/cgroup.controllers": "cpu memory",
    f"{DEBUGFS}/scan_delay_ms": "1000",
    f"{DEBUGFS}/scan_size_mb": "256",
    f"{DEBUGFS}/scan_period_min_ms": "500",
    f"{DEBUGFS}/scan_period_max_ms": "60000",
    f"{DEBUGFS}/hot_threshold_ms": "1000",
}

CGROUPS = ("database.slice", "system.slice/mail.service", "user.slice", "system.slice/noaccounting")
"""Cgroups; the memory controller is off for the last one."""


def make(root: Path, tiers: Sequence[Sequence[int]] = ((0,), (1,))) -> Path:
    """Create the files under `root`, and return `root`."""
    changed = {
        "policy": "none",
        "policies": "none naive kloc kloc-cap thermostat",
        "has_contexts": "0",
        "demotion_enabled": "false",
        "numa_balancing": "1",
        "watermark_boost_factor": "15000",
    }
    made_up_kernel.make(root, **changed)
    made_up_nodes.make(root, tiers)
    for path, text in FILES.items():
        made_up_nodes.write(root, path, text)
    for cgroup in CGROUPS:
        (root / "sys/fs/cgroup" / cgroup).mkdir(parents=True, exist_ok=True)
    for cgroup in CGROUPS[:-1]:
        for name, text in {"max": "max", "enabled": "0", "current": "0"}.items():
            made_up_nodes.write(root, f"sys/fs/cgroup/{cgroup}/memory.kloc.{name}", text)
    return root


def values(root: Path) -> dict[str, str]:
    """Return the contents of all files that the kernel takes, by path."""
    return {
        str(path.relative_to(root)): path.read_text().strip()
        for folder in ("proc/sys", "sys")
        for path in (root / folder).rglob("*")
        if path.is_file()
    }
