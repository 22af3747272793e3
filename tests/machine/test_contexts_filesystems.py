# SPDX-License-Identifier: GPL-2.0
"""Contexts of files on tmpfs, XFS and ext4. Shared memory of applications has no contexts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.in_machine import (
    COUNTS,
    FAST_PAGES,
    MIB_OF_PAGES,
    OFF,
    ON,
    SCARCE,
    TRACEFS,
    parse_counts,
    run_script,
)

pytestmark = pytest.mark.machine

FILES = """
for i in $(seq 40); do seq $i 190000 | head -c 1048576 >$i; done
sync
md5sum * >/run/sums
"""
VERIFIED = "md5sum --quiet -c /run/sums"
# Fast memory counts as short, so that the policy demotes; but kswapd has nothing to do.
SHORT = SCARCE.replace("free - 2000", "0.6 * free")
TMPFS = "mkdir /run/memory; mount -t tmpfs tmpfs /run/memory; cd /run/memory\n"
# Direct I/O, because otherwise all files would be in the page cache of the image as well.
XFS = """
mkfs.xfs -q -d file=1,name=/data/image,size=400m
device=$(losetup --direct-io=on --find --show /data/image)
mkdir /run/disk; mount $device /run/disk; cd /run/disk
"""


def run(directory: Path, setup: str, command: str) -> str:
    """Run `setup`, then `command`, with contexts, and return the output of `command`."""
    return run_script(directory, "kloc", setup, command, "--packages", "xfsprogs")


def test_closed_files_of_tmpfs_are_demoted(tmp_path: Path) -> None:
    setup = SHORT + TMPFS + FILES
    # They leave some scans after they were closed.
    printed = run(tmp_path, setup, f"cd /run/memory; sleep 0.5; {VERIFIED}; {COUNTS}")
    stat = parse_counts(printed)
    assert stat["file/placed_fast"] > 35 * MIB_OF_PAGES
    assert stat["file/demoted_inactive"] > 35 * MIB_OF_PAGES
    assert stat["kloc/knodes"] > 40


# A node's counters lag behind those of its CPUs, until they are asked for.
SHMEM = """echo 1 >/proc/sys/vm/stat_refresh
awk '/Shmem:/ {print "shmem_node" $2, $4}' /sys/devices/system/node/node*/meminfo"""


def test_demoted_files_of_tmpfs_are_promoted_when_they_are_read(tmp_path: Path) -> None:
    # Files are demoted, and read repeatedly once fast memory has free pages.
    reads = """
        cd /run/memory
        sleep 0.5
        echo 10 >/proc/sys/vm/watermark_scale_factor
        for i in $(seq 12); do cat 1 2 3 >/dev/null; done; sleep 0.3
    """
    printed = run(tmp_path, SHORT + TMPFS + FILES, reads + COUNTS)
    stat = parse_counts(printed)
    promoted = sum(stat[f"file/promoted_{reason}"] for reason in ("active", "used"))
    assert promoted >= MIB_OF_PAGES


def test_the_memory_policy_of_a_mount_overrides_placement(tmp_path: Path) -> None:
    mount = TMPFS.replace("-t tmpfs", "-t tmpfs -o mpol=bind:0")
    setup = SHORT + f"{COUNTS} >/run/before\n" + mount + FILES
    command = f"cd /run/memory; {VERIFIED}; sleep 0.5; {SHMEM}; {COUNTS}; echo ==; cat /run/before"
    after, before = (parse_counts(part) for part in run(tmp_path, setup, command).split("=="))
    # In KiB. All pages that were written are still on the node that the mount names.
    assert after["shmem_node0"] >= 40 * 1024
    assert after["file/placed_fast"] - before["file/placed_fast"] < 5 * MIB_OF_PAGES


# 8 MiB of System V shared memory, and a file of memfd_create() with as much. Node 0 has both when
# meminfo is printed.
APPLICATION = """
shmctl() { perl -e '
    $id = shmget(0, 8 << 20, 01600) // die; shmwrite($id, "a" x (8 << 20), 0, 8 << 20) or die;
    $name = "file"; $fd = syscall(319, $name, 0); open($file, ">&=", $fd) or die;
    print $file "a" x (8 << 20) or die; $file->flush;
    sleep 1; print `cat /sys/devices/system/node/node0/meminfo`; shmctl($id, 0, 0)'; }
"""


def test_shared_memory_of_applications_has_no_contexts(tmp_path: Path) -> None:
    command = f"{COUNTS}; echo ==; {APPLICATION} shmctl; {COUNTS}"
    parts = run(tmp_path, SHORT, command).split("==")
    before, after = (parse_counts(part) for part in parts)
    assert int(re.search(r"Shmem: +(\d+) kB", parts[1])[1]) > 15 * 1024  # type: ignore[index]
    assert after["file/placed_fast"] - before["file/placed_fast"] < 5 * MIB_OF_PAGES
    assert after["file/demoted_inactive"] - before["file/demoted_inactive"] < 5 * MIB_OF_PAGES


TRACED = f"""
{TRACEFS}
echo 1 >/sys/kernel/tracing/events/migrate/mm_migrate_folio/enable
"""
MOVED = "grep -o 'nr_pages=.*reason=tiering' /sys/kernel/tracing/trace"


def test_large_folios_of_xfs_move_without_being_split(tmp_path: Path) -> None:
    # Reading from the disk with read-ahead makes large folios.
    cold = "cd /; umount /run/disk; mount $device /run/disk; cd /run/disk; cat * >/dev/null\n"
    setup = XFS + FILES + TRACED + cold
    # Fast memory becomes scarce after the files are in it, by most of their size.
    scarce = SCARCE.replace("free - 2000", "free + 8000")
    command = f"{scarce} cd /run/disk; sleep 0.5; {MOVED}; {VERIFIED}; {COUNTS}"
    printed = run(tmp_path, setup, command)
    sizes = [int(size) for size in re.findall(r"nr_pages=(\d+) src_nid=0 dst_nid=1", printed)]
    assert parse_counts(printed)["file/demoted_inactive"] > 4 * MIB_OF_PAGES
    # Most pages were moved in folios of 16 pages or more, as they were read.
    assert sum(size for size in sizes if size >= 16) > sum(sizes) / 2


# A file that is in slow memory except for one page, the 1024th. Each page is written at once: those
# that several writes touch count as used, and are promoted before the file is looked at.
ONE_PAGE = f"""
{FAST_PAGES}
numactl --membind=1 dd status=none if=/dev/zero bs=4190208 count=1 >/data/file
numactl --membind=0 dd status=none if=/dev/zero bs=4096 count=1 >>/data/file
sync
echo before $(fast_pages /data/file)
{SCARCE}
sleep 0.5
echo after $(fast_pages /data/file)
"""


def test_a_single_page_in_fast_memory_is_demoted(tmp_path: Path) -> None:
    printed = run(tmp_path, "", ONE_PAGE)
    assert parse_counts(printed) == {"before": 1, "after": 0}


# Files are created, written, evicted, read and removed three times, with the same inode numbers.
REUSED = f"""
knodes() {{ cat /sys/kernel/mm/kloc/knodes; }}
cd /run/disk
mkdir many; cd many
knodes >/run/first
for life in 1 2 3; do
    for i in $(seq 100); do echo $life.$i >$i; done
    ls -i | awk '{{print $1}}' | sort >/run/inodes.$life
    # XFS takes some inodes back that are evicted but not freed yet.
    echo 2 >/proc/sys/vm/drop_caches
    for i in $(seq 100); do read -r is <$i; test $is = $life.$i; done
    echo knodes_$life $(($(knodes) - $(cat /run/first)))
    rm *
    sync
done
echo reused_2 $(comm -12 /run/inodes.1 /run/inodes.2 | wc -l)
echo reused_3 $(comm -12 /run/inodes.2 /run/inodes.3 | wc -l)
echo knodes_end $(($(knodes) - $(cat /run/first)))
{OFF}
echo knodes_off $(knodes)
"""


def test_inodes_that_xfs_reuses_get_new_contexts(tmp_path: Path) -> None:
    trace_created = "echo 1 >/sys/kernel/tracing/events/kloc/kloc_knode_create/enable\n"
    created = "grep -c kloc_knode_create: /sys/kernel/tracing/trace | sed 's/^/created /'"
    printed = run(tmp_path, SCARCE + XFS + TRACED + trace_created, f"{REUSED}{created}")
    stat = parse_counts(printed)
    assert stat["reused_2"] > 50
    assert stat["reused_3"] > 50
    # One for each file in each round: no context was left over, and none was inherited.
    assert all(100 <= stat[f"knodes_{life}"] < 120 for life in (1, 2, 3))
    assert stat["created"] >= 300
    assert stat["knodes_end"] < 20
    assert stat["knodes_off"] == 0


# Policies are selected while the file systems of their files are unmounted.
UNMOUNTED = f"""
cd /; umount /run/disk
mkdir /run/memory
for i in $(seq 8); do
    mount $device /run/disk; mount -t tmpfs tmpfs /run/memory
    for j in $(seq 60); do seq $j 9000 >/run/disk/$j; cp /run/disk/$j /run/memory/$j; done
    sync; sleep 0.1
    cmp /run/disk/$i /run/memory/$i
    umount /run/disk & first=$!
    umount /run/memory & second=$!
    {OFF}
    grep -qx 0 /sys/kernel/mm/kloc/knodes
    wait $first; wait $second
    {ON}
done
"""


def test_policies_can_be_selected_while_file_systems_are_unmounted(tmp_path: Path) -> None:
    command = f"{COUNTS}\n{OFF}\ncat /sys/kernel/warn_count"
    printed = run(tmp_path, SCARCE + XFS + UNMOUNTED, command)
    assert parse_counts(printed)["file/demoted_inactive"] > MIB_OF_PAGES
    # The kernel printed no warning.
    assert re.search(r"^0$", printed, re.M)
