# SPDX-License-Identifier: GPL-2.0
"""What scripts on a server of `server_vm` share, and what is read from their output.

Scripts print parts: the line "== NAME" comes before each.
"""

from __future__ import annotations

import json
import re
from typing import Any

FUNCTIONS = r"""
before=/root/settings
part() { echo "== $1"; }
settings() {
    grep -rs . /sys/kernel/mm/tiering /sys/kernel/mm/kloc /sys/kernel/mm/numa \
        /sys/kernel/mm/lru_gen /sys/kernel/debug/sched/numa_balancing /proc/sys/vm \
        /proc/sys/kernel/numa_balancing* |
        grep -vE '/(stats/|knodes:|knode_bytes:|page_bytes:|[a-z]*_reserve_kbytes:)' | sort
}
changed() { settings | diff "$before" - && echo same || true; }
state() { systemctl show --property=ActiveState,SubState,Result --value "$1" | xargs; }
started() { systemctl show --property=ActiveEnterTimestampMonotonic --value kloc; }
failed() { systemctl --failed --plain --no-legend --no-pager; }
export DEBIAN_FRONTEND=noninteractive
# On a server that is still starting, settings and files change.
part running; systemctl is-system-running --wait || true
part failed; failed
"""
"""Functions of all scripts, and the end of the system's start.

`settings` prints all settings that may matter, with their values, and `changed` those that are not
as in the file $before, which a script writes before the package is installed.
"""

RESTORED = "same\n"
ACTIVE, STOPPED = "success active exited", "success inactive dead"

KLOC = {
    "/proc/sys/kernel/numa_balancing": "2",
    "/proc/sys/vm/watermark_boost_factor": "0",
    "/sys/kernel/mm/numa/demotion_enabled": "true",
    "/sys/kernel/mm/tiering/has_contexts": "1",
    "/sys/kernel/mm/tiering/node0/max_kb": "max",
    "/sys/kernel/mm/tiering/policy": "kloc",
}
"""What differs under policy kloc from before; the server has the other settings anyway."""

PASSING = (
    "/run/(agetty.reload|job|log|systemd|udev|lock|credentials)(/|$)",
    "/tmp(/|$)",
    "/var/tmp(/|$)",
    "/var/log/",
    "/var/cache/(apt|debconf|ldconfig|man)(/|$)",
    "/var/lib/apt/",
    "/var/lib/redis/",
    "/var/lib/systemd/",
    "/root/",
)
"""What the system, its services and apt write themselves: regular expressions."""


def changes(part: str) -> dict[str, str]:
    """Return the settings that are not as before the package, by path, of what `changed` prints."""
    lines = (line[2:].partition(":") for line in part.splitlines() if line.startswith("> "))
    return {path: text for path, _, text in lines}


def findings(part: str) -> dict[str, dict[str, Any]]:
    """Return what `kloc doctor --server --json` found, by name."""
    document = json.loads(part[: part.rindex("}") + 1])
    return {finding["what"]: finding for finding in document["findings"]}


def left(part: str) -> list[str]:
    """Return what a part says of files that came or went, except those of PASSING.

    The part is the difference of two lists of all files: lines "> PATH" and "< PATH".
    """
    return [line for line in part.splitlines() if not re.match(f"[<>] ({'|'.join(PASSING)})", line)]
