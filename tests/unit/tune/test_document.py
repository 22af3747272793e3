# SPDX-License-Identifier: GPL-2.0
"""Results as documents, tables and plots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base import plots, revision
from kloc.base.errors import KlocError
from kloc.schemes import text
from kloc.tune import document, plot
from kloc.tune.optimizer import Estimate
from kloc.tune.score import Measurement
from kloc.tune.tuner import Result, Sample
from support import golden

PRCL = text.load("prcl")


def sample(value: float | None, score: float) -> Sample:
    return Sample(value, score, Measurement(10.0 - score, 1 << 30))


def result(best: float, score: float, margin: float) -> Result:
    samples = tuple(sample(age * 1e6, 0.1 * (age % 3) - 0.1) for age in (5, 20, 33, 50))
    curve = tuple((age * 1e6, score - abs(age - best / 1e6) / 100) for age in range(61))
    estimate = Estimate(best, score, curve)
    return Result(sample(None, 0.0), sample(5e6, -0.05), samples, estimate, margin)


@pytest.mark.parametrize(
    ("score", "margin", "words"),
    [
        (0.2, 0.1, "better than no scheme"),
        (0.05, 0.1, "cannot tell"),
        (-0.05, 0.1, "no scheme is better"),
    ],
)
def test_the_document_has_all_and_its_verdict(score: float, margin: float, words: str) -> None:
    content = document.assemble(PRCL, result(16.04e6, score, margin), {"seed": 1})
    assert json.loads(json.dumps(content)) == content
    assert content["verdict"] == words
    assert content["kloc"] == revision.commit()
    assert content["threshold"] == "min_age" and content["high"] == 60e6
    assert content["tuned_schemes"] == ["4K max min min 16s{1s..1m} max pageout"]
    assert content["none"]["value"] is None
    tables = golden.printed(*document.tables(PRCL, result(16e6, score, margin)), width=100)
    assert words in tables and "5s, untuned" in tables


def test_scores_below_0_have_bars_to_the_left() -> None:
    tables = golden.printed(*document.tables(PRCL, result(16e6, 0.2, 0.1)), width=100)
    (highest,) = [line for line in tables.splitlines() if "*" in line]
    lowest = next(line for line in tables.splitlines() if line.strip().startswith("60s"))
    assert "-0.240" in lowest
    assert lowest.index("█") < highest.index("█")


@pytest.mark.parametrize(
    ("line", "number", "shown"),
    [
        ("min max min min 5s{1s..60s} max stat", 17.34e6, "17.3s"),
        ("min max min min 5s{1ms..60s} max stat", 250e3, "250ms"),
        ("4K{4K..2M} max min min min max stat", 1.5 * (1 << 20), "1.5M"),
        ("min max min 5%{0%..50%} min max stat", 12.34, "12.3%"),
        ("min max min 5{0..10} min max stat", 4.0, "4"),
    ],
)
def test_values_are_shown_in_the_unit_of_the_threshold(
    line: str, number: float, shown: str
) -> None:
    assert document.value_text(text.parse(line, "f"), number) == shown


@pytest.mark.parametrize("suffix", plots.SUFFIXES)
def test_plots_are_drawn(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"plot{suffix}"
    plot.plot(path, "prcl", "min-age, s", 1e6, result(16e6, 0.2, 0.1))
    assert path.stat().st_size > 1000
    with pytest.raises(KlocError, match="cannot write"):
        plot.plot(tmp_path / "none" / path.name, "prcl", "s", 1e6, result(16e6, 0.2, 0.1))
