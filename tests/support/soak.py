# SPDX-License-Identifier: GPL-2.0
"""Divides the tests that take long into parts of about the same duration.

A piece is a test, or tests that share what takes long, such as the kernels that they measure.
"""

from __future__ import annotations

from collections.abc import Mapping

DEBUG = "tests/soak/test_debug_kernel.py::test_"

MINUTES: dict[str, float] = {
    "tests/builds/test_kernel.py::test_second_build_is_the_same_to_the_byte": 12,
    "tests/builds/test_kernel.py::test_checkout_and_export_of_all_of_linux_change_nothing": 2,
    "tests/builds/test_kernel.py::test_series_applies_to_the_kernel_sources_of_debian": 4,
    "tests/machine/test_model.py": 8,
    "tests/soak/test_cost.py": 11,
    f"{DEBUG}load_causes_no_reports[file stress-two CPUs]": 7,
    f"{DEBUG}load_causes_no_reports[file stress-timing model]": 10,
    f"{DEBUG}load_causes_no_reports[exits-two CPUs]": 3,
    f"{DEBUG}load_causes_no_reports[exits-timing model]": 4,
    f"{DEBUG}load_causes_no_reports[failed allocations-two CPUs]": 4,
    f"{DEBUG}load_causes_no_reports[failed allocations-timing model]": 6,
    f"{DEBUG}migration_under_load_causes_no_reports[file systems]": 16,
    f"{DEBUG}migration_under_load_causes_no_reports[memory]": 10,
    f"{DEBUG}other_debug_kernels_report_nothing[debug-rt-file systems]": 16,
    f"{DEBUG}other_debug_kernels_report_nothing[debug-rt-memory]": 12,
    f"{DEBUG}other_debug_kernels_report_nothing[debug-kcsan-file systems]": 20,
    f"{DEBUG}other_debug_kernels_report_nothing[debug-kcsan-memory]": 16,
    f"{DEBUG}selftests_cause_no_reports[debug-kloc-1]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-kloc-2]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-reloc-1]": 4,
    f"{DEBUG}selftests_cause_no_reports[debug-tiering-1]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-tiering-2]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-tiering-3]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-tiering-4]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-kloc-1]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-kloc-2]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-reloc-1]": 8,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-tiering-1]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-tiering-2]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-tiering-3]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-rt-tiering-4]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-kloc-1]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-kloc-2]": 9,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-reloc-1]": 7,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-tiering-1]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-tiering-2]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-tiering-3]": 12,
    f"{DEBUG}selftests_cause_no_reports[debug-kcsan-tiering-4]": 12,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[two_slow]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[three_tiers]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[no_memory]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[gap]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[two_zones]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[movable]": 4,
    f"{DEBUG}selftests_of_topologies_cause_no_reports[one_tier]": 2,
    f"{DEBUG}relocatable_slabs_cause_no_reports[debug-rt]": 2,
    f"{DEBUG}relocatable_slabs_cause_no_reports[debug-kcsan]": 4,
    "tests/soak/test_kernel_package.py": 6,
    "tests/soak/test_moves.py::test_pages_move_under_load[2-ext4]": 10,
    "tests/soak/test_moves.py::test_pages_move_under_load[4-xfs]": 12,
    "tests/soak/test_moves.py::test_pages_move_under_load[8-tmpfs]": 12,
    "tests/soak/test_moves.py::test_pages_move_under_load[4-ext4-debug]": 10,
    "tests/soak/test_moves.py::test_slabs_survive_suspend": 4,
    "tests/soak/test_regions.py": 10,
    "tests/soak/test_repeat.py": 6,
    "tests/soak/test_server_late_memory.py": 3,
    "tests/soak/test_server_uefi.py": 12,
    "tests/soak/test_server_vm.py": 12,
}
"""About how long each piece takes on two cores once what it needs is built, by the beginning of the
ids of its tests."""


def piece(test: str) -> str | None:
    """Return the piece of the test with the id `test`, None if it is in none."""
    return next((name for name in MINUTES if test.startswith(name)), None)


def split(minutes: Mapping[str, float], count: int) -> list[list[str]]:
    """Return `count` parts of the pieces with these durations, none of them empty.

    The longest piece goes first, each to the part that is the shortest so far. Raises ValueError if
    there are fewer pieces than parts.
    """
    if not 1 <= count <= len(minutes):
        raise ValueError(f"there are {len(minutes)} pieces, which do not make {count} parts")
    parts: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(minutes, key=lambda name: (-minutes[name], name)):
        shortest = min(parts, key=lambda part: sum(minutes[other] for other in part))
        shortest.append(name)
    return parts


def duration(part: list[str]) -> float:
    """Return about how many minutes a part takes."""
    return sum(MINUTES[name] for name in part)
