# SPDX-License-Identifier: GPL-2.0
"""Tables of `kloc bench machine`: the model beside its profile and published figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kloc.base.words import plural
from kloc.measure.machine_bench.published import SOURCES
from kloc.measure.machine_bench.runner import Compared, Measured

if TYPE_CHECKING:
    from rich.table import Table

NONE = "-"
"""Where there is no expectation or published figure."""

OFF = "bold red"
"""The style of a deviation above the tolerance."""


def table(machine: Measured) -> Table:
    """Return the table of a machine's known answers. Further published figures have own rows."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(
        title=f"{machine.profile.title()}: known answers",
        title_justify="left",
        box=SIMPLE,
        padding=(0, 0, 0, 1),
        show_edge=False,
    )
    table.add_column("")
    table.add_column("")
    for name in ("model", "profile", "%", "published", "%"):
        table.add_column(name, justify="right")
    table.add_column("source")
    for _, compared in machine.groups:
        for one in compared:
            _add_rows(table, one)
        table.add_section()
    return table


def _add_rows(table: Table, one: Compared) -> None:
    from rich.text import Text

    deviation = Text(_percent(one.deviation), style=OFF if one.is_off else "")
    figures = [
        (_number(value), _percent(one.model / value - 1), figure.source)
        for figure, value in one.published
    ] or [("", "", "")]
    expected = NONE if one.expected is None else _number(one.expected)
    own = [one.answer.title, one.answer.unit, _number(one.model), expected]
    table.add_row(*own, deviation, *figures[0])
    for further in figures[1:]:
        table.add_row("", "", "", "", "", *further)


def remarks(machines: Sequence[Measured]) -> list[str]:
    """Return lines on the answers that are off, and on the sources of published figures."""
    lines = []
    for machine in machines:
        off = [one.answer.name for one in machine.compared if one.is_off]
        checked = [one for one in machine.compared if one.expected and one.answer.tolerance]
        lines.append(
            f"{machine.profile.title()}: {len(checked) - len(off)} of "
            f"{plural(len(checked), 'checked answer')} within the tolerance"
            + (f"; off: {', '.join(off)}." if off else ".")
        )
    used = {
        figure.source
        for machine in machines
        for one in machine.compared
        for figure, _ in one.published
    }
    return lines + [f"{name}: {text}." for name, text in SOURCES.items() if name in used]


def _number(value: float) -> str:
    """Return a value with three or four significant digits."""
    digits = 2 if value < 10 else 1 if value < 1000 else 0
    return f"{value:,.{digits}f}"


def _percent(fraction: float | None) -> str:
    return NONE if fraction is None else f"{100 * fraction:+.1f}"
