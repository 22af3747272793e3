# SPDX-License-Identifier: GPL-2.0
"""The table of `kloc bench speed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kloc.measure.speed import Speed

if TYPE_CHECKING:
    from rich.table import Table


def table(measured: Speed) -> Table:
    """Return the table of a host's speed: a row for each phase."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(
        title=f"speed of this host ({measured.cpu})",
        title_justify="left",
        box=SIMPLE,
        padding=(0, 0, 0, 1),
        show_edge=False,
    )
    table.add_column("timing model")
    for name in ("M instructions", "CPU seconds", "M instructions per CPU second"):
        table.add_column(name, justify="right")
    for name, phase in measured.phases.items():
        table.add_row(
            name,
            f"{phase.instructions / 1e6:,.0f}",
            f"{phase.cpu_seconds:.1f}",
            f"{phase.rate / 1e6:.1f}",
        )
    return table
