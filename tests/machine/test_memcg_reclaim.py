# SPDX-License-Identifier: GPL-2.0
"""Limits of cgroups on all of their memory, while reclaim demotes instead of freeing.

Reclaim counts a demoted page as reclaimed, although it still counts for the cgroup: what waits for
the usage to fall has to end nevertheless (Documentation/admin-guide/mm/tiering.rst).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.in_machine import parse_counts, run_script

pytestmark = pytest.mark.machine

MIB = 1 << 20
FILE = 48 * MIB
LIMIT = 16 * MIB

TIMED_OUT = 124
"""The status of timeout(1) for a command that it has ended."""

SETUP = f"""
head -c {FILE} /dev/zero >/data/file
sync
echo 3 >/proc/sys/vm/drop_caches
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/group
"""

COMMAND = f"""
group=/sys/fs/cgroup/group
inside() {{ sh -ec 'echo $$ >/sys/fs/cgroup/group/cgroup.procs; exec "$@"' sh "$@"; }}
bounded() {{ timeout 1 sh -c 'echo '$1' >'$group/$2 && echo $2 0 || echo $2 $?; }}
echo demotion $(grep -c true /sys/kernel/mm/numa/demotion_enabled)
inside cat /data/file >/dev/null
echo used $(cat $group/memory.current)
bounded {LIMIT} memory.high
echo above_high $(cat $group/memory.current)
bounded {LIMIT // 2} memory.reclaim
echo {LIMIT} >$group/memory.max
inside cat /data/file >/dev/null && echo at_max 0 || echo at_max $?
echo killed $(sed -n 's/^oom_kill //p' $group/memory.events)
"""


@pytest.mark.parametrize("policy", ["tpp", "kloc"])
def test_reclaim_of_cgroups_ends_while_pages_are_demoted(policy: str, tmp_path: Path) -> None:
    found = parse_counts(run_script(tmp_path, policy, SETUP, COMMAND))
    assert found["demotion"] == 1
    assert found["used"] > FILE
    # A signal would end this write, too.
    assert found["memory.high"] == 0
    assert found["above_high"] <= LIMIT
    # It fails if there is nothing left to reclaim.
    assert found["memory.reclaim"] != TIMED_OUT
    assert found["at_max"] == 0 and found["killed"] == 0
