# SPDX-License-Identifier: GPL-2.0
"""The values of options."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from fractions import Fraction

import pytest

from kloc import commands
from kloc.commands import parser, values
from support.command import parse


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tpp", ("tpp",)),
        ("tpp,kloc", ("tpp", "kloc")),
        (" tpp , kloc ,", ("tpp", "kloc")),
    ],
)
def test_comma_list_ignores_spaces_and_empty_names(text: str, names: tuple[str, ...]) -> None:
    assert values.comma_list(text) == names


@pytest.mark.parametrize("text", ["", " ", ","])
def test_comma_list_without_names_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="empty"):
        values.comma_list(text)


def test_lists_that_are_given_repeatedly_add_up() -> None:
    words = ["--policies", "tpp,kloc", "--policies=stock", "--policies", "tpp", "--seeds", "4-5"]
    args = parse("compare", *words, "redis", "--seeds", "7-8", "--fast", "2", "--fast", "1/2")
    assert args.policies == ("tpp", "kloc", "stock")
    assert args.seeds == (4, 5, 7, 8)
    assert args.fast == (Fraction(2), Fraction(1, 2))
    # The default of an option that is not given stays.
    assert parse("compare", "redis").seeds == (1,)


@pytest.mark.parametrize("command", commands.ALL, ids=lambda command: command.name)
def test_every_option_that_takes_a_list_can_be_repeated(command: commands.Command) -> None:
    of_command = parser.Parser()
    command.load().add_arguments(of_command)
    parsers = (values.comma_list, values.seeds, values.factors, values.fractions)
    lists = [one for one in of_command._actions if one.type in parsers]
    assert [one.dest for one in lists if not isinstance(one, values.AddUp)] == []


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("10", 10)])
def test_whole_number_within_its_limits(text: str, number: int) -> None:
    assert values.whole_number(0, 10)(text) == number
    assert values.whole_number(0)(text) == number


def test_part_is_a_number_and_how_many_there_are() -> None:
    assert values.part("1/1") == (1, 1)
    assert values.part("12/20") == (12, 20)


@pytest.mark.parametrize(
    "text", ["", "x", "1", "/", "1/", "/2", "0/3", "4/3", "1/0", "-1/3", "1.5/3"]
)
def test_part_of_something_impossible_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not N/M"):
        values.part(text)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("1", (1,)),
        ("3", (1, 2, 3)),
        ("4-6", (4, 5, 6)),
        ("5-5", (5,)),
        ("1,3,7", (1, 3, 7)),
        ("7, 1-2 ,2", (7, 1, 2)),
        ("0,4294967295", (0, 4294967295)),
    ],
)
def test_seeds_are_a_number_a_range_or_a_list(text: str, chosen: tuple[int, ...]) -> None:
    assert values.seeds(text) == chosen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "names no seeds: write 3"),
        ("", "names no seeds"),
        ("x", "'x' names no seeds"),
        ("6-4", "names no seeds"),
        ("-3", "names no seeds"),
        ("1,,2", "names no seeds"),
        ("1-4294967296", "names no seeds"),
        ("1-1001", "more than 1000 seeds"),
        ("1001", "more than 1000 seeds"),
    ],
)
def test_what_names_no_seeds_is_refused(text: str, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=words):
        values.seeds(text)


def test_factors_are_exact() -> None:
    assert values.factors("1/3, 2,0.5") == (Fraction(1, 3), Fraction(2), Fraction(1, 2))
    assert values.fractions("1/8,1") == (Fraction(1, 8), Fraction(1))


@pytest.mark.parametrize(("text", "number"), [("0.1", 0.1), ("2", 2.0), ("86400", 86400.0)])
def test_intervals_within_their_limits(text: str, number: float) -> None:
    assert values.interval(text) == number


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (values.whole_number(1, 10), "0"),
        (values.whole_number(1, 10), "11"),
        (values.whole_number(1), "-1"),
        (values.whole_number(1), "x"),
        (values.whole_number(1), "1.5"),
        (values.interval, "0"),
        (values.interval, "86401"),
        (values.interval, "nan"),
        (values.interval, "x"),
        (values.factor, "a"),
        (values.factor, "1/0"),
        (values.factor, "-1"),
        (values.factor, "0"),
        (values.factor, "1,2"),
        (values.fraction, "2"),
        (values.factors, "1,,2"),
        (values.fractions, "1/8,2"),
    ],
)
def test_other_values_are_refused(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^'.*' is "):
        parse(text)
