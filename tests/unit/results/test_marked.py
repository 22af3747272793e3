# SPDX-License-Identifier: GPL-2.0
"""Tables between marks in a document."""

from __future__ import annotations

import pytest

from kloc.base.errors import KlocError
from kloc.results import marked
from kloc.results.marked import Stamp

DOCUMENT = """\
# Title

<!-- table one -->

| a | b |
|---|---|

Measured at commit 0123456, inputs 0123456789abcdef.
<!-- end -->
Text, and `<!-- end -->` in it.

    <!-- table example -->

<!-- table two -->
<!-- end -->
"""


def test_tables_are_the_lines_between_the_marks() -> None:
    assert marked.tables("a.md", DOCUMENT) == {
        "one": [
            "| a | b |",
            "|---|---|",
            "",
            "Measured at commit 0123456, inputs 0123456789abcdef.",
        ],
        "two": [],
    }


def test_a_table_is_replaced_and_nothing_else() -> None:
    changed = marked.replaced(DOCUMENT, "two", ["| c |"])
    assert marked.tables("a.md", changed)["two"] == ["| c |"]
    assert changed.replace("\n\n| c |\n", "\n") == DOCUMENT
    assert marked.replaced(changed, "two", ["| c |"]) == changed
    again = marked.replaced(DOCUMENT, "one", ["", "| d |"])
    assert "| a |" not in again and "`<!-- end -->` in it" in again


def test_a_mark_may_end_the_document_without_a_newline() -> None:
    text = DOCUMENT.rstrip("\n")
    assert marked.replaced(text, "two", ["x"]).endswith("\nx\n<!-- end -->\n")


def test_the_last_line_says_what_a_table_was_measured_with() -> None:
    found = marked.tables("a.md", DOCUMENT)
    assert marked.stamp(found["one"]) == Stamp("0123456", "0123456789abcdef")
    assert marked.stamp(found["two"]) is None
    assert marked.stamp(["at commit 14676ac, one seed"]) is None
    caption = Stamp("0123456789" * 4, "0123456789abcdef").caption("Measured")
    assert caption == "Measured at commit 0123456, inputs 0123456789abcdef."
    assert marked.stamp(["x", caption]) == Stamp("0123456", "0123456789abcdef")


@pytest.mark.parametrize(
    ("lines", "figures"),
    [([], False), (["Not measured yet."], False), (["| a | 1,234 |"], True)],
)
def test_a_table_without_a_digit_has_no_figures(lines: list[str], figures: bool) -> None:
    assert marked.has_figures(lines) is figures


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- table a -->\n", "a.md: table a has no '<!-- end -->'"),
        ("x\n<!-- end -->\n", "a.md, line 2: '<!-- end -->' is without"),
        ("<!-- table a -->\n<!-- table b -->\n", "a.md, line 2: '<!-- table b -->' is without"),
        ("<!-- table a -->\n<!-- end -->\n" * 2, "a.md, line 3: there is another table a"),
    ],
)
def test_marks_that_do_not_match_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(KlocError, match=message):
        marked.tables("a.md", text)
