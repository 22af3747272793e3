# SPDX-License-Identifier: GPL-2.0
"""Contexts of files in the machine: placement, migration, streams, enabling under load."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from support.in_machine import MIB_OF_PAGES, TRACEFS, parse_counts, run_script

pytestmark = pytest.mark.machine

STAT = "/sys/kernel/mm/kloc/stat"

# 240 MiB in closed files, more than the 192 MiB of fast memory. Each file is too small to be
# treated as a stream.
CLOSED_FILES = """
mkdir /data/files
cd /data/files
head -c 251658240 /dev/urandom | split -b 102400 -a 4
md5sum * >/run/sums
"""


def test_closed_files_are_demoted_when_fast_memory_is_full(tmp_path: Path) -> None:
    verified = "cd /data/files; md5sum --quiet -c /run/sums"
    printed = run_script(tmp_path, "kloc", CLOSED_FILES, f"{verified}; cat {STAT}")
    stat = parse_counts(printed)
    # Pages that did not fit were demoted. No page of a file in use was demoted instead.
    assert stat["demoted_inactive_file"] > 40 * MIB_OF_PAGES
    assert stat["demoted_last_file"] == 0
    assert stat["placed_fast_file"] > stat["placed_slow_file"]
    assert stat["knodes"] > 2400
    assert stat["kmap_lookups_saved"] > stat["kmap_lookups"]


def test_nomigrate_moves_no_page(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc-nomigrate", CLOSED_FILES, f"cat {STAT}"))
    assert stat["placed_fast_file"] > 100 * MIB_OF_PAGES
    assert not [name for name in stat if name.startswith(("demoted", "promoted")) and stat[name]]


def test_files_that_are_read_repeatedly_are_promoted(tmp_path: Path) -> None:
    reads = "for i in $(seq 12); do cat xaaa? >/dev/null; done"
    stat = parse_counts(run_script(tmp_path, "kloc", CLOSED_FILES + reads, f"cat {STAT}"))
    assert stat["promoted_whole_file"] + stat["promoted_used_file"] >= 1.5 * MIB_OF_PAGES


# Prints the trace events of one file in parts. The line "== NAME" follows the events of a part.
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
# 600 MB are written, far more than fast memory holds, but each file is removed at once.
REMOVED = f"""
for i in $(seq 30); do head -c 20000000 /dev/zero >/data/$i; rm /data/$i; done
cat {STAT}
"""


def test_a_context_is_active_while_its_file_is_open(tmp_path: Path) -> None:
    # The events of a part are printed before its name.
    first, *others = run_script(tmp_path, "kloc", "true\n", LIFE).split("== ")
    events = [first.splitlines(), *(part.splitlines()[1:] for part in others[:-1])]
    assert events == [
        ["kloc_knode_create", "kloc_activate", "kloc_deactivate"],
        ["kloc_activate"],
        [],
        [],
        ["kloc_deactivate"],
        ["kloc_activate", "kloc_deactivate"],
    ]


def test_removed_files_are_freed_and_not_demoted(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc", "true\n", REMOVED))
    assert stat["placed_fast_file"] > 500 * MIB_OF_PAGES
    assert stat["demoted_inactive_file"] < 10 * MIB_OF_PAGES


# Files are read to their end, as most programs do. Their size is no multiple of a page or a block.
# Contexts are disabled and enabled, so that nothing is known from when the files were written.
READ_ONCE = f"""
mkdir /data/copies
cd /data/copies
for i in 1 2 3 4; do head -c 1000001 /dev/urandom >$i.copy; done
echo 0 >/sys/kernel/mm/kloc/enabled
echo 1 >/sys/kernel/mm/kloc/enabled
for i in 1 2 3 4; do grep '^predicted_file ' {STAT}; cat $i.copy >/dev/null; done
grep '^predicted_file ' {STAT}
"""


def test_files_read_once_to_their_end_are_predicted_to_be_streams(tmp_path: Path) -> None:
    printed = run_script(tmp_path, "kloc", "true\n", READ_ONCE)
    totals = [int(line.split()[1]) for line in printed.splitlines()[:5]]
    # After two streams, the next files are predicted to be streams from their first page on.
    predicted = [after - before for before, after in pairwise(totals)]
    assert predicted == [0, 0, 1, 1]


# More page cache than fast and slow memory hold. The files are sparse, because the disk is smaller.
ALL_FULL = """
cd /data
truncate -s 900M 1 2 3
for i in 1 2 3; do cat $i >/dev/null; done
"""
# Prints the pages of fast memory that are free for contexts, klocd's CPU time in clock ticks while
# ten files are written, and the pages that were reclaimed from slow memory.
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


def test_slow_memory_is_reclaimed_when_both_tiers_are_full(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc", ALL_FULL, WHEN_FULL))
    assert stat["pgsteal_kswapd"] > 500 * MIB_OF_PAGES
    # Fast memory has free pages for new page cache, and klocd does not run all the time.
    assert stat["headroom"] > stat["reserve"] / 2
    assert stat["klocd"] < 50


# Files are written, read, renamed, truncated and removed while contexts are disabled and enabled.
TOGGLED = """
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


def test_contexts_can_be_disabled_and_enabled_under_load(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc", TOGGLED, f"ls /data | wc -l; cat {STAT}"))
    assert stat["knodes"] == 0


# Prints a line "taken: ..." for each invalid value that a setting accepts.
INVALID = """
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


def test_invalid_values_are_refused_and_change_nothing(tmp_path: Path) -> None:
    printed = run_script(tmp_path, "kloc", "true\n", INVALID)
    # Values are printed, and no line "taken: ...", before kloc's summary of the run.
    assert printed.startswith("nomigrate\nblockdev\nmachine ")
