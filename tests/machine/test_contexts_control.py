# SPDX-License-Identifier: GPL-2.0
"""Control of contexts in the machine: chosen processes and cgroups, limits on fast memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.in_machine import FAST_PAGES, OFF, ON, TRACEFS, run_script

pytestmark = pytest.mark.machine

MIB = 1 << 20
# Pages that are allocated but not on an LRU list yet, or not freed yet.
TOLERANCE = 1.5 * MIB

# Shell functions for the commands below, which print their results as lines "NAME VALUE".
FUNCTIONS = """
kloc=/sys/kernel/mm/kloc
tiering=/sys/kernel/mm/tiering
group=/sys/fs/cgroup/group
# on_node NODE: print the bytes of page cache on a node.
on_node() {
    awk '/ (Active|Inactive)\\(file\\):/ { s += $4 } END { print s * 1024 }' \\
        /sys/devices/system/node/node$1/meminfo
}
counted() { cat $tiering/stats/file/$1; }
# write DIRECTORY MIB: write files of 100 KiB and close them.
write() {
    mkdir -p $1
    (cd $1; head -c $(($2 * 1048576)) /dev/zero | split -b 102400 -a 4)
}
# inside COMMAND...: run a command in the cgroup.
inside() { sh -ec 'echo $$ >/sys/fs/cgroup/group/below/cgroup.procs; "$@"' sh "$@"; }
"""


def run(directory: Path, policy: str, setup: str, command: str) -> dict[str, str]:
    """Run `setup`, then `command`, under a policy, and return the values that it printed, by name.

    `directory` is on the host and gets the scripts.
    """
    functions = directory / "functions"
    functions.write_text(FUNCTIONS + FAST_PAGES)
    command = f". {functions}\n{command}"
    printed = run_script(directory, policy, setup, command, "--copy", functions)
    pairs = (line.split(maxsplit=1) for line in printed.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


# A cgroup, and one below it, which has the processes.
GROUP = """
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/group
echo +memory >/sys/fs/cgroup/group/cgroup.subtree_control
mkdir /sys/fs/cgroup/group/below
"""
# Files are created while no policy is selected, so they have no contexts. Then only files that
# chosen processes open get contexts.
CHOSEN_SETUP = f"""
cd /data
{OFF}
for file in nobody prctl pid group left; do head -c 8192 /dev/zero >$file; done
mkdir folder
mkfifo go
echo chosen >/sys/kernel/mm/kloc/scope
{ON}
{TRACEFS}
echo 1 >/sys/kernel/tracing/events/kloc/kloc_knode_create/enable
{GROUP}"""
CHOSEN = """
cd /data
contexts() {
    grep -c "kloc_knode_create: .*$(stat -c 'dev=%Hd:%Ld ino=%i' $1)\\$" \\
        /sys/kernel/tracing/trace >count || true
    echo "$1 $(cat count)"
}
choose() { perl -e 'exit syscall(157, 0x4b4c4f43, 1, 0 + shift, 1, 0) != 0' $1; }
# begin FILE starts a process that reads the file once `end FILE` runs: it can be chosen meanwhile.
begin() { (read -r _ <go; cat $1 >/dev/null) & }
end() { echo >go; wait; contexts $1; }

cat nobody >/dev/null; contexts nobody
perl -e 'syscall(157, 0x4b4c4f43, 1, 0, 1, 0); exec @ARGV' cat prctl >/dev/null; contexts prctl
perl -e 'syscall(157, 0x4b4c4f43, 1, 0, 1, 0); exec @ARGV' ls folder; contexts folder
begin pid; choose $!; end pid
echo 1 >$group/memory.kloc.enabled
begin group; echo $! >$group/below/cgroup.procs; end group
echo 0 >$group/memory.kloc.enabled
begin left; echo $! >$group/below/cgroup.procs; end left

try() {
    before=$(cat $1)
    if printf '%s' "$2" 2>/dev/null >$1; then echo "taken $1: $2"; fi
    test "$before" = "$(cat $1)" || echo "changed $1: $2"
}
try $kloc/scope some
try $kloc/scope ' '
try $tiering/node0/max_kb -1
try $tiering/node0/max_kb maximum
try $tiering/node0/max_kb 99999999999999999999
try $group/memory.kloc.enabled 2
try $group/memory.kloc.max much
try $group/memory.kloc.max ' '
echo scope $(cat $kloc/scope)
echo max $(cat $group/memory.kloc.max) $(cat $tiering/node0/max_kb)
# A cgroup can be removed while it has a limit and page cache, and nothing is left of it.
echo 4096 >$group/below/memory.kloc.max
inside cat nobody >/dev/null
rmdir $group/below $group
echo none >$tiering/policy
echo knodes $(cat $kloc/knodes)
"""


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The values that CHOSEN printed, by name; for a file, how many contexts were made for it."""
    return run(tmp_path_factory.mktemp("chosen"), "kloc", CHOSEN_SETUP, CHOSEN)


def test_files_of_other_processes_get_no_contexts(chosen: dict[str, str]) -> None:
    assert chosen["nobody"] == "0"


def test_files_of_processes_chosen_with_prctl_get_contexts(chosen: dict[str, str]) -> None:
    # A process stays chosen across exec. Directories get no contexts.
    assert [chosen[name] for name in ("prctl", "folder", "pid")] == ["1", "0", "1"]


def test_files_of_processes_moved_to_a_chosen_cgroup_get_contexts(chosen: dict[str, str]) -> None:
    assert (chosen["group"], chosen["left"]) == ("1", "0")


def test_invalid_values_are_refused_and_change_nothing(chosen: dict[str, str]) -> None:
    assert "taken" not in chosen
    assert "changed" not in chosen
    assert (chosen["scope"], chosen["max"]) == ("chosen", "max max")


def test_no_knode_is_left_after_the_policy_none_is_selected(chosen: dict[str, str]) -> None:
    assert chosen["knodes"] == "0"


# First a cgroup's limit: for new pages, and for existing pages when it is lowered under load.
# Then a node's limit.
LIMITS = """
cd /data
echo 16M >$group/memory.kloc.max
inside sh -ec '. "$1"; write limited 48' sh "$1"
echo placed $(cat $group/memory.kloc.current)

echo max >$group/memory.kloc.max
inside sh -ec '. "$1"; write free 32' sh "$1"
echo free $(cat $group/memory.kloc.current)
echo 12M >$group/memory.kloc.max
inside sh -ec '. "$1"; for i in 1 2 3; do write load$i 4; done' sh "$1"
sleep 1
echo lowered $(cat $group/memory.kloc.current) $(counted demoted_limit)

# Without load: what was written last stays.
echo max >$group/memory.kloc.max
inside head -c 4194304 /dev/zero >first
inside sh -ec '. "$1"; write between 32' sh "$1"
inside head -c 4194304 /dev/zero >last
both=$(fast_pages first last)
echo 12M >$group/memory.kloc.max
sleep 1
echo order $both $(fast_pages first) $(fast_pages last)

# Pages of other cgroups are not limited.
write others 8
echo others $(fast_pages others/*)
echo max >$group/memory.kloc.max

demoted=$(counted demoted_limit)
echo 16384 >$tiering/node0/max_kb
sleep 1
echo node_lowered $(on_node 0) $(($(counted demoted_limit) - demoted))
write more 48
echo node_placed $(on_node 0)
echo max >$tiering/node0/max_kb
echo kloc-nomigrate >$tiering/policy
demoted=$(counted demoted_limit) before=$(on_node 0)
echo 8192 >$tiering/node0/max_kb
sleep 1
write still 8
echo nomigrate $(($(on_node 0) - before)) $(($(counted demoted_limit) - demoted))
"""


@pytest.fixture(scope="module")
def limits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The numbers that LIMITS printed, by name."""
    directory = tmp_path_factory.mktemp("limits")
    command = f"set -- {directory}/functions\n{LIMITS}"
    reported = run(directory, "kloc", GROUP, command)
    return {
        name: [int(number) for number in value.split()]
        for name, value in reported.items()
        if value.replace(" ", "").replace("-", "").isdigit()
    }


def test_new_pages_respect_the_limit_of_a_cgroup(limits: dict[str, list[int]]) -> None:
    assert 8 * MIB < limits["placed"][0] < 16 * MIB + TOLERANCE
    # Without a limit, the same cgroup gets more, so it was the limit.
    assert limits["free"][0] > 40 * MIB


def test_lowering_the_limit_of_a_cgroup_demotes_pages(limits: dict[str, list[int]]) -> None:
    current, demoted = limits["lowered"]
    assert 6 * MIB < current < 12 * MIB + TOLERANCE
    assert demoted > 16 * MIB / 4096


def test_lowering_a_limit_demotes_the_oldest_pages_first(limits: dict[str, list[int]]) -> None:
    both, first, last = limits["order"]
    assert both > 1900
    assert first < 100
    assert last > 0.9 * 1024


def test_the_limit_of_a_cgroup_does_not_apply_to_others(limits: dict[str, list[int]]) -> None:
    assert limits["others"][0] > 0.9 * 8 * MIB / 4096


def test_the_limit_of_a_node_bounds_its_page_cache(limits: dict[str, list[int]]) -> None:
    bytes_on_node, demoted = limits["node_lowered"]
    assert bytes_on_node < 16 * MIB + TOLERANCE
    assert demoted > 0
    assert 8 * MIB < limits["node_placed"][0] < 16 * MIB + TOLERANCE


def test_nomigrate_applies_limits_to_new_pages_only(limits: dict[str, list[int]]) -> None:
    more, demoted = limits["nomigrate"]
    assert more < TOLERANCE
    assert demoted == 0


# `sync` after each directory: a node takes only its share of dirty pages.
CAP = """
cd /data
for part in $(seq 10 29); do write files/$part 8; sync; done
sleep 1
echo on_node $(on_node 0)
echo demoted $(counted demoted_limit)
echo knodes $(cat $kloc/knodes)
echo oldest $(fast_pages $(ls -d files/*/* | head -n 200))
echo newest $(fast_pages $(ls -d files/*/* | tail -n 200))
echo 10 >$tiering/kloc-cap/share
sleep 1
echo lowered $(on_node 0)
"""


# On machine `tiered` a third of fast memory is 64 MiB, and a tenth 19 MiB.
def test_page_cache_has_a_share_of_fast_memory_without_contexts(tmp_path: Path) -> None:
    setup = "echo 33 >/sys/kernel/mm/tiering/kloc-cap/share\n"
    values = {name: float(value) for name, value in run_capped(tmp_path, setup).items()}
    assert 48 * MIB < values["on_node"] < 64 * MIB + TOLERANCE
    assert values["demoted"] > 80 * MIB / 4096
    assert values["knodes"] == 0
    # The oldest files were demoted.
    assert values["oldest"] < 100
    assert values["newest"] > 4900
    assert values["lowered"] < 20 * MIB + TOLERANCE


def run_capped(directory: Path, setup: str) -> dict[str, str]:
    """Run CAP under the policy kloc-cap, and return the values that it printed, by name."""
    reported = run(directory, "kloc-cap", setup, CAP)
    names = ("on_node", "demoted", "knodes", "oldest", "newest", "lowered")
    return {name: reported[name] for name in names}


# More page cache than fast memory has pages, while one file is read again and again.
FLAT = """
cd /data
head -c 8388608 /dev/zero >used
for part in $(seq 10 39); do write files/$part 8; sync; cat used >/dev/null; done
for i in $(seq 20); do cat used >/dev/null; sleep 0.05; done
echo demoted $(counted demoted_old)
echo knodes $(cat $kloc/knodes)
echo oldest $(fast_pages $(ls -d files/*/* | head -n 200))
echo used $(fast_pages used)
# Placed in slow memory, then used in scan after scan.
echo 3 >/proc/sys/vm/drop_caches
perl -e '$nodes = pack("Q", 2); syscall(238, 2, $nodes, 3) == 0 or die "$!"; exec @ARGV' \\
    cat used >/dev/null
echo slow $(fast_pages used)
for i in $(seq 20); do cat used >/dev/null; sleep 0.05; done
echo promoted $(counted promoted_used) $(fast_pages used)
"""


def test_the_control_kloc_flat_moves_single_pages_without_contexts(tmp_path: Path) -> None:
    values = run(tmp_path, "kloc-flat", "", FLAT)
    assert int(values["knodes"]) == 0
    assert int(values["demoted"]) > 80 * MIB / 4096
    assert int(values["oldest"]) < 1000
    assert int(values["used"]) > 1900
    promoted, fast = (int(number) for number in values["promoted"].split())
    # Some pages are on no LRU list when caches are dropped, and stay.
    assert int(values["slow"]) < 512
    assert promoted > 1200
    assert fast > 1500


# Cgroups are created and removed, with page cache left in them, while all settings change.
CHANGED = """
cd /data
selected=0
(for i in $(seq 30); do
    head -c 2000000 /dev/urandom >a$i; cp a$i b$i; cmp a$i b$i
done; touch /run/done) &
round=0
while [ ! -e /run/done ]; do
    round=$((round + 1))
    mkdir $group
    echo +memory >$group/cgroup.subtree_control
    mkdir $group/below
    echo $((round % 4))M >$group/memory.kloc.max
    for policy in $(cat $tiering/policies) kloc; do
        echo $policy >$tiering/policy
        selected=$((selected + 1))
        inside head -c 3000000 /dev/zero >mine
        # Policies without contexts have no limits of nodes.
        [ ! -e $tiering/node0 ] || echo $((round % 3 * 4096)) >$tiering/node0/max_kb
        cat mine >/dev/null
    done
    echo none >$tiering/policy
    rmdir $group/below $group
    echo kloc >$tiering/policy
    echo max >$tiering/node0/max_kb
done
wait
for i in $(seq 30); do cmp a$i b$i; done
test $(stat -c %s mine) = 3000000
cmp -n 3000000 mine /dev/zero
echo none >$tiering/policy
echo selected $selected
echo knodes $(cat $kloc/knodes)
echo warnings $(dmesg | grep -cE 'WARNING:|BUG:|INFO:' || true)
"""


def test_policies_and_limits_can_change_under_load(tmp_path: Path) -> None:
    setup = "echo +memory >/sys/fs/cgroup/cgroup.subtree_control\n"
    reported = run(tmp_path, "kloc", setup, CHANGED)
    assert int(reported["selected"]) > 10
    assert (reported["knodes"], reported["warnings"]) == ("0", "0")
