# SPDX-License-Identifier: GPL-2.0
"""What is shown of machines while they run."""

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

LIVE: dict[str, Any] = {
    "promoted": 1234,
    "demoted": 5,
    "pages": {"fast": {"free": 900, "anon": 700, "file": 80}, "slow": {"file": 2000}},
    "stall_ns": {"fast": {"anon": 3_000_000}, "slow": {"slab:dentry": 9_500_000}},
}


def machine(live: Any) -> Machine:
    return cast(Machine, SimpleNamespace(stage="measured", seconds=0.5, live=lambda: live))


def drawn(live: Any) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(live.picture("41 %", [live.state("redis under tpp", machine(live))]))
    return console.export_text()


def test_a_line_has_the_largest_kinds_first_and_no_free_pages() -> None:
    assert live.line(live.state("redis under tpp", machine(LIVE))) == (
        "redis under tpp: measured, 0.500 s of the machine's time, "
        "promoted 1,234, demoted 5 pages; fast pages: anon 700, file 80; slow pages: file 2,000; "
        "fast stalls, ms: anon 3; slow stalls, ms: slab:dentry 10"
    )


def test_before_the_region_there_is_the_stage() -> None:
    before = live.line(live.state("redis under tpp", machine(None)))
    assert before == "redis under tpp: measured, 0.500 s of the machine's time"
    assert before in drawn(None)


def test_a_terminal_shows_a_table_the_most_stalls_first() -> None:
    lines = [line.split() for line in drawn(LIVE).splitlines()]
    assert lines[0] == ["41", "%"]
    assert lines[-3:] == [
        ["slab:dentry", "0", "0", "0.0", "9.5"],
        ["anon", "700", "0", "3.0", "0.0"],
        ["file", "80", "2,000", "0.0", "0.0"],
    ]


def test_small_kinds_are_added_up() -> None:
    kinds = {f"slab:{number:02}": 100 - number for number in range(live.ROWS + 3)}
    many = {**LIVE, "pages": {"fast": kinds, "slow": {}}, "stall_ns": {"fast": {}, "slow": {}}}
    counts = sorted(kinds.values())
    assert f"8 others {sum(counts[:8])}" in live.line(live.state("t", machine(many)))
    rest = sum(counts[:3])
    assert drawn(many).splitlines()[-1].split() == ["3", "others", str(rest), "0", "0.0", "0.0"]


def test_without_a_terminal_lines_are_printed_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.stderr.cache_clear()
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with live.watching("measuring", 10, followed=True) as watch:
        watch.bar.update(5)
        watch.show({"redis under tpp": machine(LIVE)})
        watch.show({"redis under tpp": machine(LIVE)})
        now += live.LINE_SECONDS
        watch.show({"redis under tpp": machine(None)})
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "promoted 1,234" in said[0]
    assert "in all 50 %" in said[0]


def test_on_a_terminal_it_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(terminal, "stderr", lambda: console)
    with live.watching("measuring", None, followed=True) as watch:
        watch.show({"redis under tpp": machine(LIVE)})
        # What is made on the way has no line of its own.
        with progress.shown("building"):
            pass
    assert "slab:dentry" in screen.getvalue()


def test_who_does_not_follow_does_not_look(capsys: pytest.CaptureFixture[str]) -> None:
    with live.watching("measuring", 10, followed=False) as watch:
        watch.show({"redis under tpp": cast(Machine, None)})
    assert capsys.readouterr().err == ""
