# SPDX-License-Identifier: GPL-2.0
"""What results say of a policy that is a daemon: its commands, versions and CPU time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kloc.base.daemon import Daemon
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure.kernel_counts import kernel_counts
from kloc.measure.policy import Policy

USAGE = "usage_usec"
"""The CPU time in a cgroup's cpu.stat, in us."""

KILLED = "the daemon did not end within {:g} s after SIGTERM, and was killed"


def daemon(frames: Mapping[str, str], used: Daemon, profile: Profile) -> dict[str, Any]:
    """Return what the daemon of a run was, and the CPU time that it took in the region.

    `on_workload_cores` says that the machine has no spare cores, so that this time was taken from
    the workload. `add_versions` adds the versions of the packages.
    """
    begin, end = (kernel_counts(frames[f"daemon_{at}"]) for at in ("begin", "end"))
    return {
        "start": used.start.rstrip("\n"),
        "files": [path.name for path in used.files],
        "packages": dict.fromkeys(used.packages, ""),
        "time_ns": 1000 * (end[USAGE] - begin[USAGE]),
        "on_workload_cores": not profile.spare_cores,
        "killed": "daemon_killed" in frames,
    }


def add_versions(run: dict[str, Any], policy: Policy, parts: Parts) -> None:
    """Add the versions of the daemon's packages in the guest to the record of a run."""
    if policy.daemon is not None:
        versions = parts.image.versions
        run["daemon"]["packages"] = {name: versions[name] for name in policy.daemon.packages}


def notes(run: Mapping[str, Any], used: Daemon) -> list[str]:
    """Return the notes of a run about its daemon."""
    found = []
    if run["daemon"]["killed"]:
        found.append(KILLED.format(used.stop_seconds))
    if run["daemon"]["on_workload_cores"]:
        found.append("the daemon ran on the workload's cores: the machine has no spare ones")
    return found


def listing(policies: Iterable[Policy]) -> Sequence[str]:
    """Return the lines of --dry-run about daemons: which packages the machine gets for them."""
    return [
        f"{one.name} is a daemon; packages in its machine: {', '.join(one.packages) or 'none'}"
        for one in policies
        if one.daemon is not None
    ]
