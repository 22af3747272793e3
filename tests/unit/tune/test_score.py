# SPDX-License-Identifier: GPL-2.0
"""Scores: the paper's, and those of users."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.tune import score
from kloc.tune.score import Measurement

BASE = Measurement(runtime=10.0, memory=1000.0)


def test_the_score_is_half_performance_and_half_saved_memory() -> None:
    rate = score.Listing2()
    assert rate(BASE, BASE) == 0
    assert rate(Measurement(10.5, 600.0), BASE) == pytest.approx(0.5 * -0.05 + 0.5 * 0.4)
    assert rate(Measurement(9.0, 1100.0), BASE) == pytest.approx(0.5 * 0.1 - 0.5 * 0.1)


def test_a_broken_sla_gets_the_worst_score_so_far() -> None:
    rate = score.Listing2()
    assert rate(Measurement(11.1, 1.0), BASE) == 0
    worst = rate(Measurement(10.5, 1200.0), BASE)
    assert worst == pytest.approx(-0.125)
    rate(Measurement(10.0, 500.0), BASE)
    assert rate(Measurement(20.0, 100.0), BASE) == worst
    # The loss of 10 % is one too many, as in Listing 2.
    assert rate(Measurement(11.0, 100.0), BASE) == worst


def test_the_sla_can_be_another() -> None:
    assert score.Listing2(0.5)(Measurement(14.0, 500.0), BASE) == pytest.approx(0.05)


def test_a_function_of_a_file_is_a_score(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "def saved(measured, baseline):\n    return baseline.memory - measured.memory\n"
    )
    assert score.from_file(f"{path}:saved")(Measurement(1.0, 400.0), BASE) == 600


@pytest.mark.parametrize(
    ("content", "reference", "words"),
    [
        ("", "mine.py", "names no function"),
        ("", "mine.txt:f", "names no function"),
        ("", "mine.py:f", "has no function 'f'"),
        ("f = 1", "mine.py:f", "has no function 'f'"),
        ("def f(x): pass", "mine.py:f", "does not take two arguments"),
        ("import nothing_like_it", "mine.py:f", "cannot be loaded: No module"),
        ("def f(:", "mine.py:f", "cannot be loaded"),
    ],
)
def test_files_without_the_function_are_errors(
    content: str, reference: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(content)
    with pytest.raises(KlocError, match=words) as error:
        score.from_file(str(tmp_path / reference))
    assert error.value.hint


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="cannot be loaded"):
        score.from_file(f"{tmp_path}/none.py:f")


@pytest.mark.parametrize("value", ["math.nan", "math.inf", "None", "'x'"])
def test_what_is_no_finite_number_is_no_score(value: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"import math\ndef f(measured, baseline): return {value}\n")
    with pytest.raises(KlocError, match="not a finite number"):
        score.from_file(f"{path}:f")(BASE, BASE)


def test_a_command_prints_the_score() -> None:
    rate = score.from_command("echo notes; echo $KLOC_RUNTIME; echo")
    assert rate(Measurement(2.5, 1.0), BASE) == 2.5
    assert score.from_command("echo $KLOC_BASELINE_MEMORY")(BASE, BASE) == 1000
    assert score.from_command("printf '\\377\\n7\\n'")(BASE, BASE) == 7


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo fast", "'fast', which is not a finite number"),
        ("true", "'', which is not a finite number"),
        ("echo nan", "'nan', which is not"),
        ("echo 1; exit 3", "ended with status 3"),
    ],
)
def test_commands_that_print_no_number_are_errors(command: str, words: str) -> None:
    with pytest.raises(KlocError, match=words):
        score.from_command(command)(BASE, BASE)


def test_numbers_are_checked() -> None:
    assert score.checked("0.5", "x") == 0.5
    with pytest.raises(KlocError, match="x gave nan"):
        score.checked(math.nan, "x")
