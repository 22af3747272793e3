# SPDX-License-Identifier: GPL-2.0
"""The layout of help. tests/unit/test_cli.py compares all help with golden files."""

import pytest

from kloc.commands import help


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("100", 100), ("300", help.WIDTH_MAX)])
def test_width_is_the_terminals_up_to_a_maximum(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert help.width() == width


def test_paragraphs_are_wrapped_and_words_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    assert help.wrap("one two three\nall-fast\n\nfour\n") == "one two\nthree\nall-fast\n\nfour"


def test_usage_has_a_line_for_each_form() -> None:
    lines = help.usage("run", ["WORKLOAD", ""]).splitlines()
    assert [line.strip() for line in lines] == ["kloc run WORKLOAD", "kloc run"]
    assert lines[1].index("kloc") == len("usage: ")


def test_explanations_of_examples_are_aligned_comments() -> None:
    _, *lines = help.examples([("kloc a", "one"), ("kloc abc", "two")]).splitlines()
    assert [line.split("#")[1] for line in lines] == [" one", " two"]
    assert len({line.index("#") for line in lines}) == 1
