# SPDX-License-Identifier: GPL-2.0
"""The parser: its errors name what is wrong and the nearest right thing."""

from __future__ import annotations

import argparse

import pytest

from kloc.commands import completers, output, parser


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
        (["build", "--policy"], ["--policy: needs a value\n"]),
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


@pytest.mark.parametrize("argv", [["--json", "redis"], ["fio", "--js", "redis"]], ids=" ".join)
def test_name_after_an_option_whose_value_is_optional_is_refused(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    example = workloads_parser()
    with pytest.raises(SystemExit) as end:
        example.parse_all(argv, argparse.Namespace())
    assert end.value.code == parser.USAGE_STATUS
    printed = capsys.readouterr().err
    assert "--json redis: this names a file, and redis is a WORKLOAD" in printed
    assert "--json ./redis" in printed


@pytest.mark.parametrize(
    ("argv", "path"),
    [
        (["--json", "./redis"], "redis"),
        (["--json=redis"], "redis"),
        (["redis", "--json"], "-"),
        (["--json", "r.json"], "r.json"),
    ],
)
def test_files_that_are_meant_are_accepted(argv: list[str], path: str) -> None:
    args = argparse.Namespace()
    workloads_parser().parse_all(argv, args)
    assert str(args.json) == path


def workloads_parser() -> parser.Parser:
    example = parser.Parser(prog="kloc try")
    action = example.add_argument("names", nargs="*", metavar="WORKLOAD")
    completers.complete_names(action, lambda: ["fio", "redis"])
    output.add_json(example)
    return example


@pytest.mark.parametrize(
    "argv",
    [
        ["build", "a", "b", "--policy", "x"],
        ["--policy", "x", "build", "a", "b"],
        ["build", "--policy", "x", "a", "b"],
        ["build", "a", "--policy", "x", "b"],
    ],
    ids=" ".join,
)
def test_options_may_stand_anywhere_among_the_arguments(
    argv: list[str], example: parser.Parser
) -> None:
    example.add_argument("names", nargs="*")
    found = argparse.Namespace()
    example.parse_all(argv, found)
    assert (found.what, found.names, found.policy) == ("build", ["a", "b"], "x")
