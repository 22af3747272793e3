# SPDX-License-Identifier: GPL-2.0
"""The kernel's policies of memory tiers in the machine: which there are, and what each does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.measure import policy
from support.in_machine import COUNTS, MIB_OF_PAGES, SELECT, parse_counts, run_script

pytestmark = pytest.mark.machine

MIB = 16
"""The size of what each policy places, of anonymous memory and of page cache."""

# Prints, under each policy that only places, on which nodes the pages of a process are, and how
# many pages of a new file are on the slow node. Nearly all memory of the process is anonymous.
PLACED = rf"""
cache() {{ awk '/ FilePages:/ {{print $4 / 4}}' /sys/devices/system/node/node1/meminfo; }}
for policy in naive dram-first remote-first; do
    echo $policy >/sys/kernel/mm/tiering/policy
    perl -e '$memory = "a" x ({MIB} << 20); open($maps, "<", "/proc/self/numa_maps") or die;
        while (<$maps>) {{ $pages[$1] += $2 while /N(\d)=(\d+)/g }}
        print "$ARGV[0]/anon_$_ ", $pages[$_] // 0, "\n" for 0, 1' $policy
    before=$(cache)
    head -c {MIB << 20} /dev/zero >/data/$policy
    echo 1 >/proc/sys/vm/stat_refresh
    echo $policy/cache_1 $(($(cache) - before))
done
{SELECT.format("none")}
"""


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The numbers of pages that PLACED printed."""
    directory = tmp_path_factory.mktemp("placed")
    return parse_counts(run_script(directory, "naive", "true\n", PLACED))


@pytest.mark.parametrize("name", ["naive", "dram-first"])
def test_new_pages_go_to_fast_memory(placed: dict[str, int], name: str) -> None:
    assert placed[f"{name}/anon_0"] > MIB * MIB_OF_PAGES
    assert placed[f"{name}/anon_1"] < MIB_OF_PAGES
    assert placed[f"{name}/cache_1"] < MIB_OF_PAGES


def test_remote_first_places_new_pages_in_slow_memory(placed: dict[str, int]) -> None:
    assert placed["remote-first/anon_1"] > MIB * MIB_OF_PAGES
    assert placed["remote-first/cache_1"] > 0.9 * MIB * MIB_OF_PAGES


# A file that nobody uses any more takes a third of fast memory, of which kswapd keeps 60 % free.
# When its pages leave depends on when the daemon looks: wait until enough have left, 5 s at most.
COLD = f"""
head -c 64000000 /dev/zero >/data/cold
sync
echo 3000 >/proc/sys/vm/watermark_scale_factor
for i in $(seq 20); do
    [ $(cat /sys/kernel/mm/tiering/stats/file/demoted_old) -le {4 * MIB_OF_PAGES} ] || break
    sleep 0.25
done
{COUNTS}
"""


def test_migration_only_demotes_what_is_old_and_promotes_nothing(tmp_path: Path) -> None:
    stat = parse_counts(run_script(tmp_path, "migration-only", "true\n", COLD))
    assert stat["file/demoted_old"] > 2 * MIB_OF_PAGES
    assert not [name for name in stat if "/promoted_" in name and stat[name]]
    assert stat["kloc/knodes"] == 0


def test_each_policy_of_the_kernel_has_a_file_of_its_name(tmp_path: Path) -> None:
    printed = run_script(tmp_path, "stock", "true\n", "cat /sys/kernel/mm/tiering/policies")
    files = [policy.load(name).set for name in policy.names()]
    ours = {written[policy.SELECTED] for written in files if policy.SELECTED in written}
    assert set(printed.splitlines()[0].split()) == ours | {"none"}
