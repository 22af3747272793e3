# SPDX-License-Identifier: GPL-2.0
"""A map on the terminal and in a file."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kloc.heat import picture
from kloc.heat.records import Record
from support import golden, made_up_heat


def printed(record: Record, most: int = 3, width: int = 80, terminal: bool = False) -> str:
    file = io.StringIO()
    color = "truecolor" if terminal else None
    console = Console(file=file, width=width, force_terminal=terminal, color_system=color)  # type: ignore[arg-type]
    for line in picture.lines(record, most, console):
        console.print(line, no_wrap=True, crop=True)
    return file.getvalue()


RECORDS = {
    "process": made_up_heat.record(),
    "physical": made_up_heat.physical(lost=2),
    "kinds": made_up_heat.with_kinds(lost=2),
}


@pytest.mark.parametrize(("name", "record"), RECORDS.items(), ids=RECORDS)
def test_a_map_is_printed_as_in_the_golden_file(name: str, record: Record) -> None:
    golden.check(f"heatmap-{name}", printed(record))


def test_color_is_for_terminals_only() -> None:
    record = made_up_heat.record()
    assert "\x1b" not in printed(record)
    colored = printed(record, terminal=True)
    red, green, blue = picture.COLORS[-1]
    assert f"38;2;{red};{green};{blue}" in colored
    assert picture.HALF in colored and "░" not in colored


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("record", [RECORDS["process"], RECORDS["kinds"]], ids=["process", "kinds"])
def test_no_line_of_the_map_is_wider_than_the_terminal(
    width: int, terminal: bool, record: Record
) -> None:
    console = Console(width=width, force_terminal=terminal, color_system="truecolor")
    lines = picture.lines(record, 3, console)
    # Titles, the legend of frequencies and remarks are cut.
    cells = [
        line.cell_len
        for line in lines
        if not any(
            words in line.plain for words in ("made-up", "memory:", "node", "log scale:", "lost:")
        )
    ]
    assert max(cells) <= width
    assert max(cells) > min(width, picture.COLUMNS_MAX) * 0.9


@pytest.mark.parametrize("terminal", [False, True])
def test_each_row_of_a_map_with_kinds_ends_with_a_letter(terminal: bool) -> None:
    console = Console(width=80, force_terminal=terminal, color_system="truecolor")
    lines = picture.lines(made_up_heat.with_kinds(), 3, console)
    letters = [line.plain[78:] for line in lines if set(line.plain[13:77]) <= set("·█▀")]
    # A third of the slow memory was not counted, a third is free, and a third is slab.
    assert "".join(letters) == "-" * 6 + "S" * 6 + "F" * 3 + "A" * 3


def test_marks_and_hidden_processes_are_named() -> None:
    from kloc.heat.records import Mark, Process

    record = made_up_heat.record(
        marks=(Mark(4.0, "measured"),),
        processes=(*made_up_heat.record().processes, Process(13, "idle")),
    )
    text = printed(record)
    (line,) = [line for line in text.splitlines() if "measured" in line]
    # Half of the recording is left of it.
    assert line.index("↑") == picture.LABEL + (80 - picture.LABEL - 1) // 2
    assert "not shown: idle 13" in text


def test_memory_without_any_access_is_drawn() -> None:
    record = made_up_heat.physical()
    cold = tuple(
        type(one)(one.time, None, tuple((start, end, 0) for start, end, _ in one.regions))
        for one in record.snapshots
    )
    text = printed(made_up_heat.physical(snapshots=cold))
    assert "·····" in text and "█████" not in text


@pytest.mark.parametrize("terminal", [False, True])
def test_the_legend_says_that_the_scale_is_logarithmic_in_80_columns(terminal: bool) -> None:
    (line,) = [
        text
        for text in printed(made_up_heat.record(), terminal=terminal).splitlines()
        if "log scale:" in text
    ]
    assert "to 100" in line
    console = Console(width=80, force_terminal=terminal, color_system="truecolor")
    lines = picture.lines(made_up_heat.record(), 3, console)
    assert max(text.cell_len for text in lines if "log scale:" in text.plain) <= 80
