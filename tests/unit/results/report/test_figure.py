# SPDX-License-Identifier: GPL-2.0
"""Drawings: matplotlib's SVG, made fit to be embedded in a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from kloc.results.report.figure import COLORS, LABEL_MAX, WIDTH, drawing, short

SVG = ElementTree.fromstring


def draw(title: str = "a title", label: str = "a label") -> str:
    with drawing(title, 100, rows=2) as sheet:
        for axes in sheet.axes:
            axes.plot([0, 1], [0, 1], marker="o", color=COLORS["blue"])
            axes.set_xlabel(label)
    return sheet.svg


def test_a_drawing_has_the_same_width_as_others_and_a_title() -> None:
    root = SVG(draw())
    assert root.attrib["width"] == str(WIDTH)
    title = root.find("title")
    assert title is not None
    assert title.text == "a title"
    assert root.attrib["aria-labelledby"] == title.attrib["id"]


def test_text_stays_text_in_the_font_of_the_page() -> None:
    svg = draw(label="operations")
    assert ">operations<" in svg
    assert "font-family" not in svg


def test_colors_become_variables_of_the_page() -> None:
    svg = draw()
    assert "var(--blue)" in svg
    assert not [color for color in COLORS.values() if color in svg]


def test_ids_of_different_drawings_differ() -> None:
    one, other = (set(re.findall(r'\bid="([^"]+)"', draw(title))) for title in ("one", "other"))
    assert one and other
    assert not one & other


def test_a_drawing_is_the_same_each_time() -> None:
    assert draw() == draw()


def test_letters_that_the_font_lacks_are_kept() -> None:
    assert "\N{CJK UNIFIED IDEOGRAPH-4E2D}" in draw(label="\N{CJK UNIFIED IDEOGRAPH-4E2D}")


def test_long_names_are_cut_and_control_characters_replaced() -> None:
    assert short("tpp") == "tpp"
    assert short("a\x07b") == "a?b"
    assert len(short("x" * 100)) == LABEL_MAX
