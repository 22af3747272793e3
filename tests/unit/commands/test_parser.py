# SPDX-License-Identifier: GPL-2.0
"""The parser: its errors name what is wrong and the nearest right thing."""

from __future__ import annotations

import argparse

import pytest

from kloc.commands import parser


@pytest.fixture
def example() -> parser.Parser:
    example = parser.Parser(prog="kloc try")
    example.add_argument("what", choices=("build", "export"))
    example.add_argument("--policy")
    example.add_argument("--sort", choices=("fast", "slow"))
    parser.add_common_options(example)
    return example


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["build", "--polcy", "x"], ["unknown option --polcy", "did you mean --policy?"]),
        (["build", "--polcy=x"], ["unknown option --polcy,", "did you mean --policy?"]),
        (["build", "--zzz"], ["unknown option --zzz\n"]),
        (["build", "more"], ["unexpected argument 'more'"]),
        (["biuld"], ["'biuld'", "did you mean 'build'?", "build, export"]),
        (["build", "--sort", "zzz"], ["--sort", "'zzz' (choose from fast, slow)"]),
        (["build", "--policy"], ["--policy"]),
        ([], ["missing argument: what"]),
    ],
    ids=" ".join,
)
def test_errors_name_the_word_and_the_nearest(
    argv: list[str],
    words: list[str],
    example: parser.Parser,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        example.parse_all(argv, argparse.Namespace())
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert all(word in message for word in words), message
    assert message.splitlines()[-1].startswith("kloc try --help")


def test_common_options_have_defaults(example: parser.Parser) -> None:
    args = argparse.Namespace(verbose=True)
    example.parse_all(["build"], args)
    assert (args.yes, args.cache) == (False, None)
    # What was given before the command stays.
    assert args.verbose


def test_options_of_a_program_are_told_where_they_belong(
    example: parser.Parser, capsys: pytest.CaptureFixture[str]
) -> None:
    example.takes_program = True
    with pytest.raises(SystemExit):
        example.parse_all(["build", "--zzz"], argparse.Namespace())
    assert "after '--'" in capsys.readouterr().err
