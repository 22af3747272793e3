# SPDX-License-Identifier: GPL-2.0
"""Measurements in several memory layouts."""

from __future__ import annotations

from kloc.measure.cost.parser import Call, Group
from kloc.measure.cost.runner import middle


def test_the_median_over_layouts_is_taken_of_each_figure() -> None:
    def layout(instructions: float, call_instructions: int, lines: int) -> tuple[Group, ...]:
        return (Group("files", 4, instructions, lines, (Call("open", call_instructions, lines),)),)

    (files,) = middle([layout(10, 7, 3), layout(30, 5, 1), layout(20, 6, 9)])
    assert files == Group("files", 4, 20, 3, (Call("open", 6, 3),))
