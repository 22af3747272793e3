# SPDX-License-Identifier: GPL-2.0
"""Contexts of files in the machine: where pages go, what moves, on and off under load."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from support.in_machine import MIB_OF_PAGES, TRACEFS, counts, run_script

pytestmark = pytest.mark.machine

STAT = "/sys/kernel/mm/kloc/stat"

# 240 MiB in files that are closed, where fast memory has 192; too small to be streams.
CLOSED_FILES = """
mkdir /data/files
cd /data/files
head -c 251658240 /dev/urandom | split -b 102400 -a 4
md5sum * >/run/sums
"""


def test_files_that_are_closed_leave_fast_memory(tmp_path: Path) -> None:
    verified = "cd /data/files; md5sum --quiet -c /run/sums"
    printed = run_script(tmp_path, "kloc", CLOSED_FILES, f"{verified}; cat {STAT}")
    stat = counts(printed)
    # What does not fit was demoted, and nothing that is in use for it.
    assert stat["demoted_inactive_file"] > 40 * MIB_OF_PAGES
    assert stat["demoted_last_file"] == 0
    assert stat["placed_fast_file"] > stat["placed_slow_file"]
    assert stat["knodes"] > 2400
    assert stat["kmap_lookups_saved"] > stat["kmap_lookups"]


def test_without_migration_they_stay(tmp_path: Path) -> None:
    stat = counts(run_script(tmp_path, "kloc-nomigrate", CLOSED_FILES, f"cat {STAT}"))
    assert stat["placed_fast_file"] > 100 * MIB_OF_PAGES
    assert not [name for name in stat if name.startswith(("demoted", "promoted")) and stat[name]]


def test_a_file_that_is_read_again_and_again_is_promoted(tmp_path: Path) -> None:
    again = "for i in $(seq 12); do cat xaaa? >/dev/null; done"
    stat = counts(run_script(tmp_path, "kloc", CLOSED_FILES + again, f"cat {STAT}"))
    assert stat["promoted_whole_file"] + stat["promoted_used_file"] >= 1.5 * MIB_OF_PAGES


# What is traced of one file, and where its pages are: each part is begun by a line of its own.
LIFE = rf"""
{TRACEFS}
cd /sys/kernel/tracing
part() {{ grep -o "kloc_[a-z_]*: .*ino=$ino\$" trace | cut -d: -f1; echo >trace; echo "== $1"; }}
echo 1 >events/kloc/enable
head -c 8192 /dev/zero >/data/one
ino=$(stat -c %i /data/one); part write
exec 3</data/one; part open
read -r _ <&3 || true; part read
exec 4</data/one; exec 4<&-; part other_close
exec 3<&-; part last_close
exec 3</data/one; exec 3<&-; part again
"""
# Far more than there is room for is written and removed at once.
REMOVED = f"""
for i in $(seq 30); do head -c 20000000 /dev/zero >/data/$i; rm /data/$i; done
cat {STAT}
"""


def test_a_context_lives_as_its_file_is_used(tmp_path: Path) -> None:
    parts = run_script(tmp_path, "kloc", "true\n", LIFE).split("== ")
    events = [part.splitlines()[1:] for part in parts[1:]]
    # What is printed before a part's name is what happened in it.
    seen = [parts[0].splitlines(), *events[:-1]]
    assert seen == [
        ["kloc_knode_create", "kloc_activate", "kloc_deactivate"],
        ["kloc_activate"],
        [],
        [],
        ["kloc_deactivate"],
        ["kloc_activate", "kloc_deactivate"],
    ]


def test_what_is_removed_is_freed_and_not_moved(tmp_path: Path) -> None:
    stat = counts(run_script(tmp_path, "kloc", "true\n", REMOVED))
    assert stat["placed_fast_file"] > 500 * MIB_OF_PAGES
    assert stat["demoted_inactive_file"] < 10 * MIB_OF_PAGES


# Copies are read to their end, as all programs do, which is no multiple of anything. What was
# learnt when they were written is forgotten.
READ_ONCE = f"""
mkdir /data/copies
cd /data/copies
for i in 1 2 3 4; do head -c 1000001 /dev/urandom >$i.copy; done
echo 0 >/sys/kernel/mm/kloc/enabled
echo 1 >/sys/kernel/mm/kloc/enabled
for i in 1 2 3 4; do grep '^predicted_file ' {STAT}; cat $i.copy >/dev/null; done
grep '^predicted_file ' {STAT}
"""


def test_what_is_read_once_to_its_end_is_a_stream(tmp_path: Path) -> None:
    printed = run_script(tmp_path, "kloc", "true\n", READ_ONCE)
    counted = [int(line.split()[1]) for line in printed.splitlines()[:5]]
    # Two have told what the others are, from their first page on.
    predicted = [after - before for before, after in pairwise(counted)]
    assert predicted == [0, 0, 1, 1]


# More page cache than there is memory of either kind. Of holes: the disk has not so much.
ALL_FULL = """
cd /data
truncate -s 900M 1 2 3
for i in 1 2 3; do cat $i >/dev/null; done
"""
# How much of fast memory is free for contexts, what klocd runs in ten seconds, in ticks, and what
# was reclaimed of slow memory.
WHEN_FULL = f"""
sleep 1
awk '$1 == "Node" {{zone = $2 $4}} zone != "0,DMA32" {{next}} $2 == "free" {{free = $3}}
    $1 == "promo" {{print "headroom", free - $2}}' /proc/zoneinfo
echo "reserve $(cat /sys/kernel/mm/kloc/reserve_pages)"
ran() {{ awk '{{print $14 + $15}}' /proc/$(pgrep klocd0)/stat; }}
before=$(ran)
for i in 1 2 3 4 5 6 7 8 9 10; do head -c 4000000 /dev/zero >/data/new$i; sleep 0.1; done
echo "klocd $(($(ran) - before))"
awk '/^pgsteal_kswapd/' /proc/vmstat
cat {STAT}
"""


def test_when_slow_memory_is_full_too_it_is_reclaimed_there(tmp_path: Path) -> None:
    stat = counts(run_script(tmp_path, "kloc", ALL_FULL, WHEN_FULL))
    assert stat["pgsteal_kswapd"] > 500 * MIB_OF_PAGES
    # There is room for what comes, and nobody looks for it all the time.
    assert stat["headroom"] > stat["reserve"] / 2
    assert stat["klocd"] < 50


# Files that are written, read, truncated, renamed, mapped and removed meanwhile.
SWITCHED = """
(cd /data; for i in $(seq 60); do
    head -c 3000000 /dev/urandom >a$i; cp a$i b$i; mv b$i c$i; cmp a$i c$i
    truncate -s 1000000 c$i; cmp -n 1000000 a$i c$i; rm a$i
done; touch /run/done) &
while [ ! -e /run/done ]; do
    echo 0 >/sys/kernel/mm/kloc/enabled
    echo 1 >/sys/kernel/mm/kloc/enabled
done
wait
echo 0 >/sys/kernel/mm/kloc/enabled
"""


def test_switched_on_and_off_under_load(tmp_path: Path) -> None:
    stat = counts(run_script(tmp_path, "kloc", SWITCHED, f"ls /data | wc -l; cat {STAT}"))
    assert stat["knodes"] == 0


WRONG = """
cd /sys/kernel/mm/kloc
for try in 'mode fast' 'mode' 'kinds file,socket' 'scan_us 0' 'scan_us -1' 'pin 256' \\
    'rate_mbps much' 'enabled 2'; do
    file=${try%% *}
    before=$(cat $file)
    if printf '%s' "${try#* }" 2>/dev/null >$file; then echo "taken: $try"; fi
    test "$before" = "$(cat $file)"
done
echo nomigrate >mode
echo blockdev >kinds
cat mode kinds
"""


def test_wrong_values_change_nothing(tmp_path: Path) -> None:
    assert run_script(tmp_path, "kloc", "true\n", WRONG).startswith("nomigrate\nblockdev\nmachine ")
