# SPDX-License-Identifier: GPL-2.0
"""Who moved the pages of a run."""

from __future__ import annotations

import re

from kloc.base.paths import PROJECT
from kloc.measure import movers
from kloc.measure.movers import moved_by
from support.made_up_raw import run

TIERING = {
    "changed": {
        "file/demoted_inactive": 40,
        "file/demoted_inactive_freed": 7,
        "blockdev/demoted_unused": 10,
        "anon/demoted_old": 6,
        "file/demoted_limit": 4,
        "slab/demoted_unused": 5,
        "file/promoted_active": 20,
        "file/promoted_used": 30,
        "file/placed_fast": 900,
    },
    "end": {},
}


def test_pages_are_divided_into_contexts_single_pages_and_the_kernels_own() -> None:
    vmstat = {
        "pgpromote_success": 150,
        "pgdemote_kswapd": 70,
        "pgdemote_direct": 8,
        "pgdemote_khugepaged": 2,
    }
    # Slab is not on LRU lists, and not in /proc/vmstat.
    assert moved_by(TIERING, vmstat, {}) == {
        "promoted": {"context": 20, "page": 30, "hint_fault": 100},
        "demoted": {"context": 55, "page": 10, "lru": 20},
    }


def test_a_kernel_without_policies_moves_by_lru_and_hint_faults() -> None:
    assert moved_by({}, {"pgpromote_success": 3, "pgdemote_direct": 4}, {}) == {
        "promoted": {"hint_fault": 3},
        "demoted": {"lru": 4},
    }


def test_a_policy_that_promotes_after_hint_faults_is_one_of_the_movers() -> None:
    tiering = {"changed": {"anon/promoted_hint": 7, "anon/demoted_pair": 5}, "end": {}}
    vmstat = {"pgpromote_success": 9, "pgdemote_direct": 5}
    assert moved_by(tiering, vmstat, {}) == {
        "promoted": {"hint_fault": 9},
        "demoted": {"page": 5},
    }


def test_cold_regions_are_moved_page_by_page() -> None:
    """Under thermostat, without contexts."""
    tiering = {"changed": {"anon/demoted_cold": 512, "anon/promoted_used": 100}, "end": {}}
    vmstat = {"pgpromote_success": 100, "pgdemote_kswapd": 600}
    assert moved_by(tiering, vmstat, {}) == {
        "promoted": {"page": 100},
        "demoted": {"page": 512, "lru": 88},
    }


def test_pages_drawn_at_random_are_contexts_only_if_there_are_any() -> None:
    """autotiering-random draws pages, kloc-random contexts."""
    changed = {"anon/demoted_random": 7}
    vmstat = {"pgdemote_direct": 7}
    pages, contexts = ({"changed": changed, "end": {"knodes": number}} for number in (0, 3))
    assert moved_by(pages, vmstat, {})["demoted"] == {"page": 7}
    assert moved_by(contexts, vmstat, {})["demoted"] == {"context": 7}


def test_moves_that_the_kernel_counts_nowhere_are_others() -> None:
    traced = {"promoted": {"hint_fault": 3, "damon": 5}, "demoted": {"damon": 6, "mempolicy": 1}}
    assert moved_by({}, {"pgpromote_success": 3}, traced) == {
        "promoted": {"hint_fault": 3, "other": 5},
        "demoted": {"other": 7},
    }


def test_counters_that_were_read_a_moment_apart_give_no_negative_number() -> None:
    vmstat = {"pgpromote_success": 49, "pgdemote_kswapd": 59}
    found = moved_by(TIERING, vmstat, {})
    assert "lru" not in found["demoted"] and "hint_fault" not in found["promoted"]


def test_a_result_has_who_moved_its_pages() -> None:
    begin, end = "file/demoted_inactive 5\n", "file/demoted_inactive 8\nslab/promoted_used 2\n"
    assert run(more={"tiering_begin": begin, "tiering_end": end})["moved_by"] == {
        "promoted": {"page": 2},
        "demoted": {"context": 3, "lru": 3},
    }


def test_every_reason_of_the_kernel_is_known() -> None:
    source = (PROJECT / "kernel/files/mm/tiering/stats.c").read_text()
    in_kernel = re.findall(r'\[TIERING_(?:DEMOTED|PROMOTED)_\w+\]\s*= "(\w+)"', source)
    known = [f"{way}_{why}" for way, reasons in movers.REASONS.items() for why in reasons]
    assert sorted(known) == sorted(in_kernel)
