# SPDX-License-Identifier: GPL-2.0
"""Tables whose rows begin with the variant of the machine, the workload and the policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kloc.measure.record import Run
from kloc.results import document

if TYPE_CHECKING:
    from rich.table import Table

Names = tuple[str, str, str]
"""The variant, the workload and the policy of runs."""


def grouped(runs: Iterable[Run]) -> dict[Names, list[Run]]:
    """Return the runs by variant, workload and policy."""
    found: dict[Names, list[Run]] = {}
    for run in runs:
        variant = str(run["machine"].get("variant") or document.UNCHANGED)
        found.setdefault((variant, run["workload"], run["policy"]), []).append(run)
    return found


def several_variants(names: Iterable[Names]) -> bool:
    """Return whether rows need a column for the variant."""
    return len({variant for variant, _, _ in names}) > 1


def empty_table(title: str, several: bool, columns: Iterable[str], *more: str) -> Table:
    """Return a table without rows, narrow enough for 80 columns.

    `several`: it has a column for the variant. Columns on the left follow the policy for `more`,
    then those on the right for `columns`.
    """
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        title_style="",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for name in ["variant", "workload", "policy", *more][0 if several else 1 :]:
        table.add_column(name)
    for name in columns:
        table.add_column(name, justify="right")
    return table


def cells(names: Sequence[str], several: bool) -> Sequence[str]:
    """Return the first cells of a row: `names` begin with the variant."""
    return names[0 if several else 1 :]
