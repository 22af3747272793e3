# SPDX-License-Identifier: GPL-2.0
"""The agent counts every page that moves between tiers, by whomever it is moved, and only once."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT
from kloc.build.guest_image import FILES

VMSTAT = (
    "pgpromote_success 5\npgpromote_candidate 900\npgdemote_kswapd 10\npgdemote_direct 20\n"
    "pgdemote_khugepaged 40\nnuma_pages_migrated 300\npgmigrate_success 7000\n"
)
FROM_VMSTAT = 5 + 10 + 20 + 40


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The folder of the files that moved.awk reads, with /proc/vmstat alone."""
    (tmp_path / "vmstat").write_text(VMSTAT)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def counted(kernel: Path) -> dict[str, int]:
    """Return what moved.awk prints, called as the agent calls it."""
    schemes = f"{kernel}/kdamonds/*/contexts/0/schemes"
    command = (
        f"awk -f {FILES}/moved.awk {kernel}/vmstat {kernel}/numa_balancing {kernel}/stats/slab/* "
        f"{schemes}/*/action {schemes}/*/stats/sz_applied"
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert not done.stderr
    return {name: int(pages) for name, pages in (line.split() for line in done.stdout.splitlines())}


def test_a_kernel_without_policies_and_damon_has_vmstat_alone(kernel: Path) -> None:
    assert counted(kernel) == {"all": FROM_VMSTAT, "damon_promoted": 0, "damon_demoted": 0}


@pytest.mark.parametrize(("mode", "more"), [("0", 0), ("1", 300), ("2", 0), ("3", 0)])
def test_hint_faults_without_tiers_move_pages_that_are_not_counted_as_promoted(
    kernel: Path, mode: str, more: int
) -> None:
    write(kernel / "numa_balancing", mode)
    assert counted(kernel)["all"] == FROM_VMSTAT + more


def test_moves_of_slabs_are_added_and_those_of_folios_are_in_vmstat(kernel: Path) -> None:
    for kind in ("file", "anon", "slab"):
        for name, pages in {
            "demoted_inactive": 100,
            "demoted_inactive_freed": 30,
            "demoted_inactive_returned": 60,
            "promoted_used": 7,
            "not_moved_busy": 1000,
            "placed_slow": 5000,
        }.items():
            write(kernel / "stats" / kind / name, str(pages))
    assert counted(kernel)["all"] == FROM_VMSTAT + 107


def test_moves_of_folios_are_counted_in_vmstat_once_by_policies_and_not_by_migration() -> None:
    """What the sum relies on: the overlay counts in one place, and only moves of its policies."""
    overlay = [*PROJECT.glob("kernel/files/**/*.c"), *PROJECT.glob("kernel/patches/*.patch")]
    counting = r"[^-/*\n]*\b(?:PGDEMOTE_|PGPROMOTE_SUCCESS)"
    # A patch also shows lines of upstream around its own.
    added = {".c": re.compile(rf"^{counting}", re.M), ".patch": re.compile(rf"^\+{counting}", re.M)}
    places = {
        str(path.relative_to(PROJECT)): len(added[path.suffix].findall(path.read_text()))
        for path in overlay
    }
    assert {name: count for name, count in places.items() if count} == {
        "kernel/files/mm/tiering/migrate.c": 2
    }
    (hook,) = PROJECT.glob("kernel/patches/0007-mm-migrate-*.patch")
    assert re.search(
        r"^\+\s*if \(reason == MR_TIERING\)\n\+\s*tiering_folio_migrated\(", hook.read_text(), re.M
    )


def test_moves_by_damon_are_those_of_its_schemes_that_migrate(kernel: Path) -> None:
    applied = {"0/0": ("migrate_cold", 3), "0/1": ("pageout", 50), "1/0": ("migrate_hot", 4)}
    for place, (action, pages) in applied.items():
        kdamond, scheme = place.split("/")
        folder = kernel / "kdamonds" / kdamond / "contexts/0/schemes" / scheme
        write(folder / "action", action)
        write(folder / "stats/sz_applied", str(4096 * pages))
    assert counted(kernel) == {
        "all": FROM_VMSTAT + 7,
        "damon_promoted": 4,
        "damon_demoted": 3,
    }


def test_large_counts_are_printed_as_numbers(kernel: Path) -> None:
    write(kernel / "vmstat", f"pgdemote_kswapd {1 << 40}")
    assert counted(kernel)["all"] == 1 << 40
