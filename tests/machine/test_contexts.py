# SPDX-License-Identifier: GPL-2.0
"""Contexts of files in the machine: placement, migration, and selecting policies under load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.in_machine import COUNTS, MIB_OF_PAGES, OFF, ON, TRACEFS, parse_counts, run_script

pytestmark = pytest.mark.machine

# 240 MiB in closed files, more than the 192 MiB of fast memory. They are written back, because
# dirty pages are not demoted.
CLOSED_FILES = """
mkdir /data/files
cd /data/files
head -c 251658240 /dev/urandom | split -b 102400 -a 4
sync
md5sum * >/run/sums
"""


def test_closed_files_are_demoted_when_fast_memory_is_full(tmp_path: Path) -> None:
    verified = "cd /data/files; md5sum --quiet -c /run/sums"
    printed = run_script(tmp_path, "kloc", CLOSED_FILES, f"{verified}; {COUNTS}")
    stat = parse_counts(printed)
    # Pages that did not fit were demoted. Files in use lost few pages, which they did not use.
    assert stat["file/demoted_inactive"] > 40 * MIB_OF_PAGES
    assert stat["file/demoted_unused"] < stat["file/demoted_inactive"] / 20
    assert stat["file/placed_fast"] > stat["file/placed_slow"]
    assert stat["kloc/knodes"] > 2400


def test_nomigrate_moves_no_page(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc-nomigrate", CLOSED_FILES, COUNTS))
    assert stat["file/placed_fast"] > 100 * MIB_OF_PAGES
    moves = re.compile(r"\w+/(demoted|promoted)_")
    assert not [name for name in stat if moves.match(name) and stat[name]]


def test_files_that_are_read_repeatedly_are_promoted(tmp_path: Path) -> None:
    reads = "for i in $(seq 12); do cat xaaa? >/dev/null; done"
    stat = parse_counts(run_script(tmp_path, "kloc", CLOSED_FILES + reads, COUNTS))
    assert stat["file/promoted_active"] + stat["file/promoted_used"] >= 1.5 * MIB_OF_PAGES


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
{COUNTS}
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
    assert stat["file/placed_fast"] > 500 * MIB_OF_PAGES
    assert stat["file/demoted_inactive"] < 10 * MIB_OF_PAGES


# More page cache than fast and slow memory hold. The files are sparse, because the disk is smaller.
ALL_FULL = """
cd /data
truncate -s 900M 1 2 3
for i in 1 2 3; do cat $i >/dev/null; done
"""
# Prints the pages of fast memory that are free, and those that kswapd keeps free; the CPU time of
# ktierd0 in clock ticks while ten files are written; and the pages reclaimed from slow memory.
WHEN_FULL = rf"""
sleep 1
awk '$1 == "Node" {{zone = $2 $4}} zone != "0,DMA32" {{next}} $2 == "free" {{print "free", $3}}
    $1 == "promo" {{print "mark", $2}}' /proc/zoneinfo
ran() {{ awk '{{print $14 + $15}}' /proc/$(pgrep ktierd0)/stat; }}
before=$(ran)
for i in 1 2 3 4 5 6 7 8 9 10; do head -c 4000000 /dev/zero >/data/new$i; sleep 0.1; done
echo "ktierd $(($(ran) - before))"
awk '/^pgsteal_kswapd/' /proc/vmstat
{COUNTS}
"""


def test_slow_memory_is_reclaimed_when_both_tiers_are_full(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc", ALL_FULL, WHEN_FULL))
    assert stat["pgsteal_kswapd"] > 500 * MIB_OF_PAGES
    # Fast memory has free pages for new page cache, and ktierd does not run all the time.
    assert stat["free"] > stat["mark"] / 2
    assert stat["ktierd"] < 50


# Files are written, read, renamed, truncated and removed while policies with and without contexts
# are selected.
TOGGLED = f"""
(cd /data; for i in $(seq 60); do
    head -c 3000000 /dev/urandom >a$i; cp a$i b$i; mv b$i c$i; cmp a$i c$i
    truncate -s 1000000 c$i; cmp -n 1000000 a$i c$i; rm a$i
done; touch /run/done) &
while [ ! -e /run/done ]; do
    {OFF}
    {ON}
done
wait
{OFF}
"""


def test_policies_can_be_selected_under_load(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "kloc", TOGGLED, f"ls /data | wc -l; {COUNTS}"))
    assert stat["kloc/knodes"] == 0


# Prints a line "taken: ..." for each invalid value that a setting accepts.
INVALID = """
cd /sys/kernel/mm
for try in 'tiering/policy fast' 'tiering/policy' 'tiering/scan_us 0' 'tiering/scan_us -1' \\
    'tiering/scan_us 60000001' 'tiering/pin 0' 'tiering/pin 256' 'tiering/rate_mbps much' \\
    'tiering/kloc/inactive_age 0' 'tiering/kloc-cap/share 101' 'kloc/kinds file,socket' \\
    'kloc/scope some'; do
    file=${try%% *}
    before=$(cat $file)
    if printf '%s' "${try#* }" 2>/dev/null >$file; then echo "taken: $try"; fi
    test "$before" = "$(cat $file)"
done
echo kloc-nomigrate >tiering/policy
echo blockdev >kloc/kinds
cat tiering/policy kloc/kinds
"""


def test_invalid_values_are_refused_and_change_nothing(tmp_path: Path) -> None:
    printed = run_script(tmp_path, "kloc", "true\n", INVALID)
    # Values are printed, and no line "taken: ...", before kloc's summary of the run.
    assert printed.startswith("kloc-nomigrate\nblockdev\nmachine ")
