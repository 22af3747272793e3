# SPDX-License-Identifier: GPL-2.0
"""The table of a report that shows who moved the pages: contexts, the policy, or the kernel."""

from __future__ import annotations

from kloc.results import moves
from kloc.results.report.cases import Case
from kloc.results.report.figure import Table

INTRO = (
    "The second one shows who moved them, in % of the pages of that direction: contexts as a "
    "whole, the policy page by page, hint faults of NUMA balancing, or reclaim by LRU lists."
)
"""What the section says of the table."""


def tables(case: Case) -> list[Table]:
    """Return the table of a case: one, or none if its runs were measured without the counts."""
    movers = moves.shown(case.runs)
    head = ["policy", "direction", "pages", *(f"{moves.NAMES[mover]}, %" for mover in movers)]
    rows = [
        [policy, direction, *moves.row(runs, direction, movers)]
        for policy in case.policies
        if (runs := [run for run in case.runs_under(policy) if "moved_by" in run])
        for direction in moves.DIRECTIONS
    ]
    return [Table(head, rows, names=2)] if rows else []
