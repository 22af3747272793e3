# SPDX-License-Identifier: GPL-2.0
"""Contexts of files in the machine: where pages go, what moves, on and off under load."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kloc.paths import PROJECT

pytestmark = pytest.mark.machine

STAT = "/sys/kernel/mm/kloc/stat"
MIB_OF_PAGES = 256

# 240 MiB in files that are closed, where fast memory has 192.
CLOSED_FILES = """
mkdir /data/files
cd /data/files
for i in $(seq 240); do head -c 1048576 /dev/urandom >$i; done
md5sum * >/run/sums
"""


def run(tmp_path: Path, policy: str, setup: str, command: str) -> str:
    """Run `command` after `setup` under a policy; return what it printed."""
    script = tmp_path / "setup"
    script.write_text(setup)
    argv = ["run", "--policy", policy, "--setup", str(script), "--", "sh", "-ec", command]
    done = subprocess.run(
        [PROJECT / "kloc", *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(printed: str) -> dict[str, int]:
    """Return what the file stat says."""
    pairs = (line.split() for line in printed.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def test_files_that_are_closed_leave_fast_memory(tmp_path: Path) -> None:
    printed = run(tmp_path, "kloc", CLOSED_FILES, f"md5sum --quiet -c /run/sums; cat {STAT}")
    stat = counts(printed)
    # What does not fit was demoted, and nothing that is in use for it.
    assert stat["demoted_inactive_file"] > 40 * MIB_OF_PAGES
    assert stat["demoted_last_file"] == 0
    assert stat["placed_fast_file"] > stat["placed_slow_file"]
    assert stat["knodes"] > 240
    assert stat["kmap_lookups_saved"] > stat["kmap_lookups"]


def test_without_migration_they_stay(tmp_path: Path) -> None:
    stat = counts(run(tmp_path, "kloc-nomigrate", CLOSED_FILES, f"cat {STAT}"))
    assert stat["placed_fast_file"] > 100 * MIB_OF_PAGES
    assert not [name for name in stat if name.startswith(("demoted", "promoted")) and stat[name]]


def test_a_file_that_is_read_again_and_again_is_promoted(tmp_path: Path) -> None:
    again = "cd /data/files; for i in $(seq 12); do cat 1 2 3 4 >/dev/null; done"
    stat = counts(run(tmp_path, "kloc", CLOSED_FILES + again, f"cat {STAT}"))
    assert stat["promoted_whole_file"] + stat["promoted_used_file"] >= 3 * MIB_OF_PAGES


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
    stat = counts(run(tmp_path, "kloc", SWITCHED, f"ls /data | wc -l; cat {STAT}"))
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
    assert run(tmp_path, "kloc", "true\n", WRONG) == "nomigrate\nblockdev\n"
