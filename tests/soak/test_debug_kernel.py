# SPDX-License-Identifier: GPL-2.0
"""The kernel under KASAN, lockdep, DEBUG_VM, kmemleak and fault injection: no report, no leak."""

import dataclasses

import pytest

from kloc import kernel, machine, policy, profile
from kloc.machine import Job, Parts, Raw

PACKAGES = ("fio",)
# What the debug kernel needs for itself comes on top of the machine's memory.
MEMORY = 768 << 20

SETUP = """
for result in /sys/kernel/debug/kunit/*/results; do
    cat $result
    ! grep -q 'not ok' $result
done
grep -q '^ok' /sys/kernel/debug/kunit/kloc_machine/results
"""
# Files that are written, verified, mapped, truncated and removed, by several at a time. TIMES is
# how much of it there is time for: the model takes its own.
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
# Allocations fail in a tenth of the cases, in a shell and its children; what they do may fail.
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
# What is looked for twice was not on its way from one place to another.
LEAKS = """
for i in 1 2; do echo scan >/sys/kernel/debug/kmemleak; sleep 6; done
cat /sys/kernel/debug/kmemleak
test -z "$(cat /sys/kernel/debug/kmemleak)"
grep -q 'debug_locks: *1' /proc/lockdep_stats
"""


@pytest.fixture(scope="module")
def parts() -> Parts:
    """A machine whose kernel is the debug kernel."""
    return dataclasses.replace(machine.prepare(PACKAGES), kernel=kernel.build("debug"))


def run(parts: Parts, *, modelled: bool) -> Raw:
    times = 1 if modelled else 4
    host = profile.load(profile.DEFAULT)
    host = dataclasses.replace(host, fast=dataclasses.replace(host.fast, capacity=MEMORY))
    scripts = {"setup": SETUP, "measured": f"TIMES={times}\n{STRESS}{FAULTS}", "check": LEAKS}
    settings = policy.load("tpp").settings("", host)
    job = Job("debug", host, scripts, settings, packages=PACKAGES, modelled=modelled)
    return machine.run(job, parts)


@pytest.mark.soak
@pytest.mark.parametrize("modelled", [False, True], ids=["two CPUs", "timing model"])
def test_nothing_is_reported(parts: Parts, modelled: bool) -> None:
    raw = run(parts, modelled=modelled)
    assert not machine.WARNING.search(raw.console), raw.console[-4000:]
