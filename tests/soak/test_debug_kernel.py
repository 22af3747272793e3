# SPDX-License-Identifier: GPL-2.0
"""The debug kernels report nothing.

One checks memory, locks and leaks (KASAN, lockdep, DEBUG_VM, kmemleak, fault injection), one is
PREEMPT_RT with lockdep, and one looks for data races (KCSAN).
"""

import dataclasses
import re
from collections.abc import Mapping
from functools import cache

import pytest
from msgspec import structs

from kloc.build import kernel
from kloc.build.kernel_source import KERNEL
from kloc.machine import guest_console, launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import Parts, prepare_parts
from kloc.measure import policy
from support.in_machine import SCARCE

pytestmark = pytest.mark.soak

PACKAGES = ("fio", "e2fsprogs", "xfsprogs")
# The capacity of fast memory. It includes the additional memory that the debug kernel needs.
MEMORY = 768 << 20

SETUP = """
# `run` searches the console for warnings, so the console shows them.
echo 8 >/proc/sys/kernel/printk
for result in /sys/kernel/debug/kunit/*/results; do
    cat $result
    if grep -q 'not ok' $result; then exit 1; fi
done
for suite in kloc_machine kloc kloc_memcg; do
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
            echo $most 2>/dev/null >/sys/kernel/mm/kloc/node0/max_kb || true
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
# A tenth of the allocations of a shell and its children fails. Their commands may fail.
FAULTS = """
for kind in failslab fail_page_alloc; do
    echo Y >/sys/kernel/debug/$kind/task-filter
    echo 10 >/sys/kernel/debug/$kind/probability
    echo -1 >/sys/kernel/debug/$kind/times
    echo 0 >/sys/kernel/debug/$kind/verbose
    echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
done
for i in $(seq $((TIMES * 10))); do
    sh -c 'echo 1 >/proc/self/make-it-fail
        dd if=/dev/zero of=/data/faults bs=64k count=16; cat /data/faults; ls -lR /sys/kernel/mm;
        rm -f /data/faults' >/dev/null 2>&1 || true
done
for kind in failslab fail_page_alloc; do echo 0 >/sys/kernel/debug/$kind/probability; done
"""
# kmemleak scans twice: a first scan may miss a pointer that is being moved.
LEAKS = """
for i in 1 2; do echo scan >/sys/kernel/debug/kmemleak; sleep 6; done
cat /sys/kernel/debug/kmemleak
test -z "$(cat /sys/kernel/debug/kmemleak)"
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

# The kernel of PREEMPT_RT has no NUMA balancing, which is a part of the policy tpp.
RT_SETTINGS = {
    "/sys/kernel/mm/lru_gen/enabled": "y",
    "/sys/kernel/mm/numa/demotion_enabled": "1",
    "/sys/kernel/mm/kloc/enabled": "1",
}

RACE = re.compile(r"BUG: KCSAN: (?:data-race|assert: race) in (.*)")
"""The first line of a report: the functions that race, of which one may be missing."""


@cache
def parts(variant: str) -> Parts:
    """Return a machine whose kernel is a debug kernel."""
    return dataclasses.replace(prepare_parts(PACKAGES), kernel=kernel.build(variant))


@cache
def functions() -> frozenset[str]:
    """Return the names of the functions in mm/kloc."""
    definition = re.compile(r"^[a-z][\w \t*]*?\b(\w+)\(", re.MULTILINE)
    sources = (KERNEL / "files/mm/kloc").glob("*.[ch]")
    return frozenset(name for path in sources for name in definition.findall(path.read_text()))


def races(console: str) -> list[str]:
    """Return the data races of mm/kloc that KCSAN reported. The rest of the kernel has many."""
    found = (match.group(1) for match in RACE.finditer(console))
    return [race for race in found if functions() & set(re.findall(r"\w+", race))]


def settings(variant: str, host: profile.Profile) -> Mapping[str, str]:
    return RT_SETTINGS if variant == "debug-rt" else policy.load("tpp").settings("", host)


def run(measured: str, *, modelled: bool, times: int, variant: str = "debug") -> None:
    """Run a script on a debug kernel, and assert that there are no leaks and no warnings.

    `times` is the variable TIMES of the script. Without `modelled` there is no timing model.
    """
    host = profile.load(profile.DEFAULT)
    host = structs.replace(host, fast=structs.replace(host.fast, capacity=MEMORY))
    check = CHECKS[variant]
    scripts = {"setup": SETUP, "measured": f"TIMES={times}\n{measured}", "check": check}
    written = settings(variant, host)
    job = Job(variant, host, scripts, written, packages=PACKAGES, modelled=modelled)
    raw = launcher.run(job, parts(variant))
    assert not guest_console.WARNING.search(raw.console), raw.console[-4000:]
    assert races(raw.console) == []


LOADS = {"file stress": STRESS, "failed allocations": FAULTS}

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
