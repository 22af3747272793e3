# SPDX-License-Identifier: GPL-2.0
"""SVG as a file of its own: short paths that draw the same, and colors of both styles."""

from __future__ import annotations

import re

import pytest

from kloc.results.report import standalone
from kloc.results.report.figure import COLORS


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 1 2 L 3 2 L 3 4.5 L 1 4.5 z", "M1 2h2v2.5h-2z"),
        ("M 0 0 L 1.5 -2 M 7 7 L 7 7 L 8 9", "M0 0l1.5 -2M7 7l1 2"),
        ("M 0 0 C 1 1 2 2 3 3 z", "M 0 0 C 1 1 2 2 3 3 z"),
    ],
)
def test_paths_of_lines_become_shorter_and_others_stay(path: str, short: str) -> None:
    assert standalone.shorter(path) == short


def test_rounding_does_not_add_up() -> None:
    path = "M 0 0 " + " ".join(f"L {0.04 * step:.2f} {step}" for step in range(1, 101))
    moves = re.findall(r"l(-?[\d.]+) (-?[\d.]+)|v(-?[\d.]+)", standalone.shorter(path))
    assert sum(float(across or 0) for across, _, _ in moves) == pytest.approx(4.0)


def test_every_color_has_a_light_and_a_dark_value() -> None:
    light, dark = standalone.palettes()
    assert set(COLORS) <= set(light) & set(dark) | {"blank"}
    assert light["paper"] == "#ffffff"
    assert dark["paper"] != light["paper"]


def test_control_characters_are_replaced() -> None:
    assert standalone.printable("a b\x07\ud800é") == "a b??é"
