# SPDX-License-Identifier: GPL-2.0
"""The debug kernels report nothing.

One checks memory, locks and leaks (KASAN, lockdep, DEBUG_VM, kmemleak, fault injection), one is
PREEMPT_RT with lockdep, and one looks for data races (KCSAN).
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from functools import cache

import pytest
from msgspec import structs

from kloc.build import kernel
from kloc.build.kernel_source import KERNEL
from kloc.machine import guest_console, launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import Parts, prepare_parts
from kloc.measure import policy
from support import kunit, selftests, topologies
from support.in_machine import SCARCE

pytestmark = pytest.mark.soak

PACKAGES = ("fio", "e2fsprogs", "xfsprogs")
# The capacity of fast memory. It includes the additional memory that the debug kernel needs.
MEMORY = 768 << 20
DEBUG_MEMORY = 4 * topologies.BLOCK
"""The additional memory that the debug kernel needs on machines with other nodes."""

SETUP = """
# `run` searches the console for warnings, so the console shows them.
echo 8 >/proc/sys/kernel/printk
for result in /sys/kernel/debug/kunit/*/results; do
    cat $result
    if grep -q 'not ok' $result; then exit 1; fi
done
for suite in {suites}; do
    grep -q '^ok' /sys/kernel/debug/kunit/$suite/results
done
"""
# Several processes write, verify, map, truncate and remove files. TIMES is the amount of work: the
# timing model is slow.
STRESS = """
mkdir -p /data/stress
fio --name=files --directory=/data/stress --ioengine=psync --rw=randrw --bs=4k \\
    --size=$((TIMES * 6))m --numjobs=4 --verify=crc32c --verify_fatal=1 --do_verify=1 \\
    --minimal >/dev/null
fio --name=mapped --directory=/data/stress --ioengine=mmap --rw=randwrite --bs=4k \\
    --size=$((TIMES * 4))m --numjobs=2 --verify=crc32c --verify_fatal=1 --fallocate=none \\
    --minimal >/dev/null
for i in 1 2 3; do
    (cd /data/stress
     for j in $(seq $((TIMES * 25))); do echo $j >$i.$j; mv $i.$j $i.$j.moved; done) &
    work="$work $!"
    echo 3 >/proc/sys/vm/drop_caches
done
for one in $work; do wait $one; done
rm -r /data/stress
"""
# Pages are demoted and promoted all the time, under every policy, and policies are selected
# meanwhile. kswapd keeps nearly all free that is free of fast memory, so that pages that are not in
# use are demoted, and used pages are promoted. Limits and the scope change, too. The contents of
# files are checked.
MIGRATION = f"""
{SCARCE}
cd /sys/kernel/mm/tiering
# Pages stay after eight moves. Otherwise the machine would do nothing but move them.
echo 8 >pin
echo 200000 >scan_us
touch /run/switching
(while [ -e /run/switching ]; do
    for policy in kloc $(cat policies) kloc; do
        # Without slow memory, which goes offline at times, no policy can be selected.
        echo $policy 2>/dev/null >/sys/kernel/mm/tiering/policy || true
        # The limit is 4 MiB at times. The directory node0 does not exist while slow memory is
        # offline.
        for most in max 4096 max; do
            echo $most 2>/dev/null >/sys/kernel/mm/tiering/node0/max_kb || true
            sleep 0.1
        done
        for whose in chosen all; do echo $whose >/sys/kernel/mm/kloc/scope; done
        echo 2 >/proc/sys/vm/drop_caches
    done
done) &
switching=$!
(while [ -e /run/switching ]; do cat /sys/kernel/debug/kloc/contexts >/dev/null; sleep 2; done) &
looking=$!
"""
FILES = """
mkdir -p /data/files
for i in 1 2 3; do
    (cd /data/files
     for j in $(seq $((TIMES * 8))); do
         seq $i $((j * 8000)) >$i.a
         cp $i.a $i.b; mv $i.b $i.c; cmp $i.a $i.c
         truncate -s $((j * 20000)) $i.c; cmp -n $((j * 20000)) $i.a $i.c
         cat $i.a $i.a $i.a | md5sum >/dev/null
         ln $i.a $i.d; rm $i.a; cat $i.d $i.c >$i.e; rm $i.c $i.d $i.e
     done) &
    files="$files $!"
done
for one in $files; do wait $one; done
rm -r /data/files
"""
# File systems are mounted, frozen, remounted and unmounted, cgroups are removed, and slow memory
# goes offline and online, while pages migrate.
MOUNTS = """
head -c 33554432 /dev/zero >/data/image
mkfs.ext4 -q /data/image
mkdir -p /run/mounted
(for i in $(seq $TIMES); do
     mount -o loop /data/image /run/mounted
     for j in $(seq 20); do seq $i $((j * 3000)) >/run/mounted/$j; done
     (cd /run/mounted; md5sum ? ?? >sums)
     fsfreeze -f /run/mounted; sleep 0.1; fsfreeze -u /run/mounted
     mount -o remount,ro /run/mounted
     (cd /run/mounted; md5sum --quiet -c sums)
     umount /run/mounted
     mount -o loop /data/image /run/mounted
     (cd /run/mounted; md5sum --quiet -c sums)
     umount /run/mounted
 done) &
mounts=$!
"""
# XFS reuses inodes without freeing them. tmpfs has its pages on other LRU lists, and some of them
# are swapped out. The policy none is selected while both are unmounted.
OTHER_MOUNTS = """
mkfs.xfs -q -d file=1,name=/data/xfs,size=300m
mkdir -p /run/xfs /run/tmpfs
options=size=100m
# PREEMPT_RT has no huge pages.
if [ -e /sys/kernel/mm/transparent_hugepage ]; then options=$options,huge=within_size; fi
head -c 67108864 /dev/zero >/data/swap
chmod 600 /data/swap
mkswap -q /data/swap
swapon /data/swap
lives() { # NUMBER: files that are made, evicted, read and removed, with the same inodes
    for life in 1 2 3; do
        for file in $(seq 40); do seq $(($1 + file)) $((file * 600)) >$file; done
        seq $1 700000 >large
        cp large copy
        md5sum -- * >sums
        echo 2 >/proc/sys/vm/drop_caches
        echo 16M >/sys/fs/cgroup/memory.reclaim || true
        md5sum --quiet -c sums
        truncate -s 100000 copy
        cmp -n 100000 large copy
        rm -- *
    done
}
(for i in $(seq $((TIMES * 2))); do
     mount -o loop /data/xfs /run/xfs
     mount -t tmpfs -o $options tmpfs /run/tmpfs
     (cd /run/xfs; lives $i)
     (cd /run/tmpfs; lives $i)
     umount /run/xfs & xfs=$!
     umount /run/tmpfs & tmpfs=$!
     echo none >/sys/kernel/mm/tiering/policy
     wait $xfs
     wait $tmpfs
     echo kloc >/sys/kernel/mm/tiering/policy
 done) 2>/run/other_mounts &
others=$!
"""
# Ways to read and write other than read() and write().
ENGINES = """
mkdir -p /data/engines
for engine in io_uring libaio splice pvsync2; do
    fio --name=$engine --directory=/data/engines --ioengine=$engine --iodepth=8 --rw=randrw \\
        --bs=4k --size=$((TIMES * 4))m --verify=crc32c --verify_fatal=1 --verify_state_save=0 \\
        --minimal >/dev/null
done
cd /data/engines
seq 300000 >sent
# sendfile(), of the file's first MiB.
perl -e 'open($in, "<", "sent"); open($out, ">", "got");
    syscall(40, fileno($out), fileno($in), 0, 1 << 20) == 1 << 20 or die "sendfile: $!"'
cmp -n 1048576 sent got
cd /
rm -r /data/engines
"""
GROUPS = """
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
(for i in $(seq $((TIMES * 4))); do
     mkdir /sys/fs/cgroup/short
     echo 1 >/sys/fs/cgroup/short/memory.kloc.enabled
     echo 1M >/sys/fs/cgroup/short/memory.kloc.max
     sh -ec 'echo $$ >/sys/fs/cgroup/short/cgroup.procs
         seq 300000 >/data/short; cp /data/short /data/short.copy'
     rmdir /sys/fs/cgroup/short
     cmp /data/short /data/short.copy
     rm /data/short /data/short.copy
 done) &
groups=$!
"""
HOTPLUG = """
(for i in $(seq $TIMES); do
     for block in /sys/devices/system/node/node1/memory*; do
         # This fails for blocks whose pages cannot be moved.
         if echo offline >$block/state; then went=$((went + 1)); echo online >$block/state; fi
     done
 done 2>/dev/null
 echo "blocks of memory that went and came: $went"
 test $went -gt 0) &
hotplug=$!
"""
MEMORY_ENDED = """
for one in $groups $hotplug; do wait $one; done
"""
MOUNTS_ENDED = """
wait $mounts
wait $others || { cat /run/other_mounts; exit 1; }
test "$(awk '/^pswpout/ {print $2}' /proc/vmstat)" -gt 0
swapoff /data/swap
rm /data/image /data/xfs /data/swap
"""
SETTLED = """
rm /run/switching
wait $switching
wait $looking
cd /sys/kernel/mm/tiering/stats/file
grep -v '^0$' *
moved() { cat $1_* | awk '{n += $1} END {print n + 0}'; }
test "$(moved demoted)" -gt 1000
test "$(moved promoted)" -gt 0
echo none >/sys/kernel/mm/tiering/policy
grep -qx 0 /sys/kernel/mm/kloc/knodes
"""
# A tenth of the allocations of a shell and its children fails. Their commands may fail, and so
# may the selection of a policy; the next one that has memory succeeds.
FAIL = """
for kind in failslab fail_page_alloc; do
    echo Y >/sys/kernel/debug/$kind/task-filter
    echo 10 >/sys/kernel/debug/$kind/probability
    echo -1 >/sys/kernel/debug/$kind/times
    echo 0 >/sys/kernel/debug/$kind/verbose
    echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
done
"""
FAIL_NO_MORE = """
for kind in failslab fail_page_alloc; do echo 0 >/sys/kernel/debug/$kind/probability; done
"""
FAULTS = f"""
{FAIL}
for i in $(seq $TIMES); do
    for policy in $(cat /sys/kernel/mm/tiering/policies); do
        sh -c 'echo 1 >/proc/self/make-it-fail
            echo $0 >/sys/kernel/mm/tiering/policy
            dd if=/dev/zero of=/data/faults bs=64k count=16; cat /data/faults
            ls -lR /sys/kernel/mm; cat /sys/kernel/debug/kloc/contexts
            rm -f /data/faults' $policy >/dev/null 2>&1 || true
    done
done
{FAIL_NO_MORE}
rm -f /data/faults
for policy in $(cat /sys/kernel/mm/tiering/policies); do
    echo $policy >/sys/kernel/mm/tiering/policy
done
"""
# kmemleak scans twice: a first scan may miss a pointer that is being moved.
LEAKS = """
for i in 1 2; do echo scan >/sys/kernel/debug/kmemleak; sleep 6; done
cat /sys/kernel/debug/kmemleak
test -z "$(cat /sys/kernel/debug/kmemleak)"
"""
# Files come and go, and their dentries and inodes move between the nodes, while a tenth of the
# allocations of both fails. Each kind of directory entry that was made is as it was made.
RELOC_FAULTS = f"""
{FAIL}
cd /sys/kernel/debug/reloc
mkdir /data/kept
for j in $(seq 200); do echo $j >/data/kept/$j; ln -s $j /data/kept/link-$j; done
touch /run/moving
for mover in 1 2; do
    (while [ -e /run/moving ]; do
        sh -c 'echo 1 >/proc/self/make-it-fail
            for cache in dentry ext4_inode_cache; do
                for node in 1 0; do echo $cache $node >move; done
            done' 2>/dev/null || true
        cat pages stats >/dev/null
        sleep 0.2
    done) &
    movers="$movers $!"
done
for i in $(seq $((TIMES * 10))); do
    sh -c 'echo 1 >/proc/self/make-it-fail
        for j in $(seq 60); do
            mkdir -p /data/few/$j; echo $j >/data/few/$j/file; ln -s $j /data/few/$j/link
        done
        ls -lR /data/few; mv /data/few /data/less' >/dev/null 2>&1 || true
    rm -rf /data/few /data/less
    echo 2 >/proc/sys/vm/drop_caches
    (cd /data/kept
     for j in $(seq 200); do read -r text <link-$j; test "$text" = $j; done)
done
rm /run/moving
for one in $movers; do wait $one; done
{FAIL_NO_MORE}
cd /
rm -r /data/kept
test "$(awk '/^moved/ {{print $2}}' /sys/kernel/debug/reloc/stats)" -gt 1000
"""
LOCKS = """
grep -q 'debug_locks: *1' /proc/lockdep_stats
"""
WARNINGS = """
test "$(cat /sys/kernel/warn_count)" = 0
"""
CHECKS = {
    "debug": LEAKS + LOCKS + WARNINGS,
    "debug-rt": LOCKS + WARNINGS,
    "debug-kcsan": WARNINGS,
}
"""What is checked at the end, by the variant of the kernel."""

LACKS = {"debug": kunit.RELOC, "debug-rt": kunit.BALANCING}
"""The suites of unit tests that a variant of the kernel does not have."""

# The kernel of PREEMPT_RT has no NUMA balancing, which is a part of the policy kloc.
RT_SETTINGS = {
    "/sys/kernel/mm/lru_gen/enabled": "y",
    "/sys/kernel/mm/numa/demotion_enabled": "1",
    "/sys/kernel/mm/tiering/policy": "kloc",
}

RELOCATABLE = selftests.PARAMETERS["reloc"]
"""Parameters of a kernel whose dentries and inodes are relocatable."""

SLUB_DEBUG = "slab_debug=FZPU"
"""A kernel parameter: slabs are checked, have red zones and poison, and note who allocates."""

RACE = re.compile(r"BUG: KCSAN: (?:data-race|assert: race) in (.*)")
"""The first line of a report: the functions that race, of which one may be missing."""


@cache
def parts(variant: str) -> Parts:
    """Return a machine whose kernel is a debug kernel."""
    return dataclasses.replace(prepare_parts(PACKAGES), kernel=kernel.build(variant))


@cache
def functions() -> frozenset[str]:
    """Return the names of the functions in mm/kloc, mm/reloc and mm/tiering, and their headers."""
    definition = re.compile(r"^(?:[a-z][\w \t*]*[ \t*])?(\w+)\(", re.MULTILINE)
    sources = [*(KERNEL / "files/include/linux").glob("*.h")]
    for part in ("kloc", "reloc", "tiering"):
        sources += (KERNEL / "files/mm" / part).glob("*.[ch]")
    return frozenset(name for path in sources for name in definition.findall(path.read_text()))


def races(console: str) -> list[str]:
    """Return the data races of our code that KCSAN reported. The rest of the kernel has many."""
    found = (match.group(1) for match in RACE.finditer(console))
    return [race for race in found if functions() & set(re.findall(r"\w+", race))]


def settings(variant: str, host: profile.Profile) -> Mapping[str, str]:
    return RT_SETTINGS if variant == "debug-rt" else policy.load("kloc").settings("", host)


def setup(variant: str) -> str:
    """Return the script that checks that all suites of a variant's unit tests ran and passed."""
    suites = kunit.SUITES - LACKS.get(variant, frozenset())
    return SETUP.replace("{suites}", " ".join(sorted(suites)))


def host_of() -> profile.Profile:
    """Return the profile of the machine, with memory that debug kernels need."""
    host = profile.load(profile.DEFAULT)
    return structs.replace(host, fast=structs.replace(host.fast, capacity=MEMORY))


def reported(console: str) -> str:
    """Return the first warning on the console with what follows it, or the races; or nothing."""
    warning = guest_console.WARNING.search(console)
    return console[warning.start() :][:4000] if warning else "\n".join(races(console))


def run(
    measured: str,
    *,
    modelled: bool,
    times: int,
    variant: str = "debug",
    parameters: tuple[str, ...] = (),
) -> None:
    """Run a script on a debug kernel, and assert that there are no leaks and no warnings.

    `times` is the variable TIMES of the script. Without `modelled` there is no timing model.
    """
    host = host_of()
    check = CHECKS[variant]
    scripts = {"setup": setup(variant), "measured": f"TIMES={times}\n{measured}", "check": check}
    written = settings(variant, host)
    job = Job(
        variant,
        host,
        scripts,
        written,
        packages=PACKAGES,
        modelled=modelled,
        parameters=parameters,
    )
    raw = launcher.run(job, parts(variant))
    assert reported(raw.console) == ""


# Processes exit while kswapd and the daemon look at the anonymous memory that they have mapped.
EXITS = f"""
{SCARCE}
echo migration-only >/sys/kernel/mm/tiering/policy
echo 200000 >/sys/kernel/mm/tiering/scan_us
for i in 1 2 3; do
    (for j in $(seq $((TIMES * 40))); do
         perl -e '$held = "x" x (24 << 20); for (1 .. 3) {{ fork() or exit }}'
     done) &
    exits="$exits $!"
done
for one in $exits; do wait $one; done
test "$(cat /sys/kernel/mm/tiering/stats/anon/demoted_old)" -gt 0
echo none >/sys/kernel/mm/tiering/policy
"""
LOADS = {"file stress": STRESS, "exits": EXITS, "failed allocations": FAULTS}

SELFTESTS = {
    f"{directory}-{first + 1}": [
        name for name in selftests.SCRIPTS if name.startswith(f"{directory}/")
    ][first::count]
    for directory, count in {"kloc": 2, "reloc": 1, "tiering": 4}.items()
    for first in range(count)
}
"""The selftests of each directory, in groups that take about as long as the other tests here."""

# What happens while pages migrate. tests/support/soak.py has how long each takes.
MEANWHILE = {
    "file systems": MOUNTS + OTHER_MOUNTS + ENGINES + MOUNTS_ENDED,
    "memory": GROUPS + HOTPLUG + STRESS + FILES + MEMORY_ENDED + FAULTS,
}


@pytest.mark.parametrize("modelled", [False, True], ids=["two CPUs", "timing model"])
@pytest.mark.parametrize("load", LOADS)
def test_load_causes_no_reports(load: str, modelled: bool) -> None:
    run(LOADS[load], modelled=modelled, times=1 if modelled else 4)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_migration_under_load_causes_no_reports(
    monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    # On a busy host this may take over an hour, which does not mean that it hangs.
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", 2 * 3600)
    run(MIGRATION + MEANWHILE[meanwhile] + SETTLED, modelled=False, times=1)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("variant", ["debug-rt", "debug-kcsan"])
def test_other_debug_kernels_report_nothing(
    monkeypatch: pytest.MonkeyPatch, variant: str, meanwhile: str
) -> None:
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", 2 * 3600)
    script = MIGRATION + MEANWHILE[meanwhile] + SETTLED
    run(script, modelled=False, times=1, variant=variant)


def run_selftests(job: Job, scripts: Sequence[str], variant: str) -> None:
    """Run selftests on a debug kernel, and assert that none hangs and nothing is reported.

    What they measure differs on a debug kernel, so some may fail.
    """
    stages = {"setup": setup(variant), **job.scripts, "check": CHECKS[variant]}
    raw = launcher.run(dataclasses.replace(job, name=variant, scripts=stages), parts(variant))
    printed = selftests.parse(raw.frames["measured"])
    assert set(printed) == set(scripts)
    hung = [name for name, (_, status) in printed.items() if status == selftests.TIMED_OUT]
    assert hung == []
    assert reported(raw.console) == ""


@pytest.mark.parametrize("group", SELFTESTS)
@pytest.mark.parametrize("variant", CHECKS)
def test_selftests_cause_no_reports(
    monkeypatch: pytest.MonkeyPatch, variant: str, group: str
) -> None:
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", 2 * 3600)
    host = host_of()
    job = selftests.job(SELFTESTS[group], host, settings(variant, host), seconds=900)
    run_selftests(job, SELFTESTS[group], variant)


@pytest.mark.parametrize("machine", topologies.MACHINES)
def test_selftests_of_topologies_cause_no_reports(
    monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", 2 * 3600)
    host = host_of()
    scripts = [topologies.path(script) for script in topologies.SCRIPTS[machine]]
    job = selftests.job(
        scripts,
        host,
        {**settings("debug", host), **topologies.NO_POLICY},
        seconds=600,
        setup=topologies.setup(machine),
        topology=topologies.larger(topologies.MACHINES[machine].topology, DEBUG_MEMORY),
    )
    run_selftests(job, scripts, "debug")


@pytest.mark.parametrize("variant", ["debug-rt", "debug-kcsan"])
def test_relocatable_slabs_cause_no_reports(monkeypatch: pytest.MonkeyPatch, variant: str) -> None:
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", 2 * 3600)
    parameters = (*RELOCATABLE, SLUB_DEBUG)
    run(RELOC_FAULTS, modelled=False, times=1, variant=variant, parameters=parameters)
