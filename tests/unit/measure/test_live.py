# SPDX-License-Identifier: GPL-2.0
"""The view of running machines."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from kloc.base import progress, terminal
from kloc.machine.launcher import Machine
from kloc.measure import live

TOTALS: dict[str, Any] = {
    "promoted": 1234,
    "demoted": 5,
    "pages": {"fast": {"free": 900, "anon": 700, "file": 80}, "slow": {"file": 2000}},
    "stall_ns": {"fast": {"anon": 3_000_000}, "slow": {"slab:dentry": 9_500_000}},
}
TITLE = "redis under tpp"


def machine(totals: Any) -> Machine:
    return cast(Machine, SimpleNamespace(stage="measured", seconds=0.5, live=lambda: totals))


def line(totals: Any) -> str:
    return live.line(live.state(TITLE, machine(totals)))


def picture(totals: Any) -> str:
    """Return the view on a terminal as text."""
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(live.picture("41 %", [live.state(TITLE, machine(totals))]))
    return console.export_text()


def test_a_line_has_the_largest_kinds_first_and_no_free_pages() -> None:
    heading, *figures = line(TOTALS).split("; ")
    assert heading.startswith(f"{TITLE}: measured, 0.500 s")
    assert "promoted 1,234" in heading and "demoted 5" in heading
    assert [figure.split(": ")[1] for figure in figures] == [
        "anon 700, file 80",
        "file 2,000",
        "anon 3",
        "slab:dentry 10",
    ]
    assert [figure.split()[0] for figure in figures] == ["fast", "slow", "fast", "slow"]


def test_before_the_measured_region_only_the_heading_is_shown() -> None:
    heading = line(None)
    assert heading.startswith(f"{TITLE}: measured, 0.500 s")
    assert "promoted" not in heading and ";" not in heading
    assert picture(None).split("\n\n")[-1].strip() == heading


def test_a_table_has_the_kinds_with_the_most_stall_time_first() -> None:
    rows = [row.split() for row in picture(TOTALS).splitlines()]
    assert rows[0] == ["41", "%"]
    assert rows[-3:] == [
        ["slab:dentry", "0", "0", "0.0", "9.5"],
        ["anon", "700", "0", "3.0", "0.0"],
        ["file", "80", "2,000", "0.0", "0.0"],
    ]


def test_small_kinds_are_summed() -> None:
    kinds = {f"slab:{number:02}": 100 - number for number in range(live.TABLE_KINDS + 3)}
    totals = {**TOTALS, "pages": {"fast": kinds, "slow": {}}, "stall_ns": {"fast": {}, "slow": {}}}
    counts = sorted(kinds.values())
    assert f"8 others {sum(counts[:8])}" in line(totals)
    others = str(sum(counts[:3]))
    assert picture(totals).splitlines()[-1].split() == ["3", "others", others, "0", "0.0", "0.0"]


def test_without_a_terminal_lines_are_printed_at_intervals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.stderr.cache_clear()
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with live.watching("measuring", 10, followed=True) as watch:
        watch.bar.update(5)
        watch.show({TITLE: machine(TOTALS)})
        watch.show({TITLE: machine(TOTALS)})
        now += live.LINE_SECONDS
        watch.show({TITLE: machine(None)})
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "promoted 1,234" in lines[0] and "50 %" in lines[0]


def test_on_a_terminal_the_table_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(terminal, "stderr", lambda: console)
    with live.watching("measuring", None, followed=True) as watch:
        watch.show({TITLE: machine(TOTALS)})
        # Work within the block has no bar of its own.
        with progress.shown("building"):
            pass
    assert "slab:dentry" in screen.getvalue()


def test_without_follow_the_live_file_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    with live.watching("measuring", 10, followed=False) as watch:
        watch.show({TITLE: cast(Machine, None)})
    assert capsys.readouterr().err == ""
