# SPDX-License-Identifier: GPL-2.0
"""Limits of cgroups on fast memory, in the machine: what they cost, how exact they are."""

from __future__ import annotations

import pytest

from support.in_machine import TRACEFS, parse_counts, run_script

pytestmark = pytest.mark.machine

MIB = 1 << 20
PAGE = 4096
LIMIT = 16 * MIB
WRITERS = 12
OTHERS = 100
CPUS = 5
"""Of the default machine, the spare one included."""

HELD_BACK = 31
"""Folios that a CPU holds back from the LRU lists at most: PAGEVEC_SIZE."""

SLACK = (CPUS * HELD_BACK + WRITERS) * PAGE
"""By how much a cgroup may exceed its limit: folios held back, and one that each task allocates."""

# A cgroup, and one below it, which has the processes; many cgroups below one another.
SETUP = f"""
{TRACEFS}
echo "+memory +cpuset" >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/group
echo "+memory +cpuset" >/sys/fs/cgroup/group/cgroup.subtree_control
mkdir /sys/fs/cgroup/group/below
cd /sys/fs/cgroup
for i in $(seq {OTHERS}); do
    mkdir other
    cd other
    echo "+memory" >cgroup.subtree_control
done
"""

# Prints lines "NAME VALUE...". A probe counts how often ktierd steps from cgroup to cgroup, another
# one how often it looks at limits.
COMMAND = f"""
tiering=/sys/kernel/mm/tiering
group=/sys/fs/cgroup/group
tracing=/sys/kernel/tracing
inside() {{ sh -ec 'echo $$ >/sys/fs/cgroup/group/below/cgroup.procs; "$@"' sh "$@"; }}
other=/sys/fs/cgroup/other
while [ -e $other ]; do
    echo 1G >$other/memory.kloc.max
    other=$other/other
done
cd /data

echo {LIMIT} >$group/memory.kloc.max
echo p:step mem_cgroup_iter >$tracing/kprobe_events
echo p:look tiering_limit_fill >>$tracing/kprobe_events
for probe in step look; do
    echo 'comm ~ "ktierd*"' >$tracing/events/kprobes/$probe/filter
    echo 1 >$tracing/events/kprobes/$probe/enable
done
sleep 2
echo 0 >$tracing/events/kprobes/enable
for probe in step look; do echo $probe $(grep -c " $probe: " $tracing/trace); done

(most=0
 while [ ! -e /run/written ]; do
     read -r now <$group/memory.kloc.current
     if [ $now -gt $most ]; then most=$now; fi
     sleep 0.001
 done
 echo most $most) &
for i in $(seq {WRITERS}); do
    inside head -c 4194304 /dev/zero >written$i &
    writers="$writers $!"
done
for writer in $writers; do wait $writer; done
touch /run/written
wait
sync
echo end $(cat $group/memory.kloc.current)
rm written*

# ktierd is to sleep from here on. Whoever writes first has a cpuset without fast memory.
echo 60000000 >$tiering/scan_us
sleep 2
echo 1 >$group/below/cpuset.mems
before=$(cat $group/memory.kloc.current)
inside head -c 33554432 /dev/zero >bound
now=$(cat $group/memory.kloc.current)
echo bound $((now - before))
echo 0-1 >$group/below/cpuset.mems
before=$now
inside head -c 8388608 /dev/zero >free
echo free $(($(cat $group/memory.kloc.current) - before))

# bounds FILE LEAST MOST: print the values beyond the bounds that are accepted, and the bounds that
# are refused.
bounds() {{
    for value in $2 $3; do
        echo $value 2>/dev/null >$tiering/$1 || echo "refused $1 $value"
    done
    for value in $(($2 - 1)) $(($3 + 1)); do
        if echo $value 2>/dev/null >$tiering/$1; then echo "accepted $1 $value"; fi
    done
}}
bounds rate_mbps 0 1048576
bounds scan_us 100 60000000
bounds pin 1 255
bounds kloc/inactive_age 1 255
bounds kloc/slab_groups 0 2
bounds kloc-cap/share 1 100
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines that COMMAND printed."""
    output = run_script(tmp_path_factory.mktemp("limits"), "kloc", SETUP, COMMAND)
    return output.splitlines()


@pytest.fixture(scope="module")
def values(printed: list[str]) -> dict[str, int]:
    """The numbers in lines of the form "NAME NUMBER", by name."""
    return parse_counts("\n".join(printed))


def test_a_limit_is_checked_without_a_walk_over_cgroups(values: dict[str, int]) -> None:
    assert values["look"] > 4
    assert values["step"] == 0, values


def test_concurrent_writers_do_not_exceed_the_limit(values: dict[str, int]) -> None:
    assert LIMIT / 2 < values["most"] < LIMIT + SLACK, values
    assert values["end"] < LIMIT + SLACK, values


def test_pages_that_go_elsewhere_are_not_charged(values: dict[str, int]) -> None:
    assert values["bound"] < MIB, values
    assert values["free"] > 7 * MIB, values


def test_settings_accept_what_the_documentation_says(printed: list[str]) -> None:
    assert [line for line in printed if line.startswith(("refused", "accepted"))] == []
