# SPDX-License-Identifier: GPL-2.0
"""The tuner on patterns of scores: what it finds, and whether it says so honestly."""

from __future__ import annotations

import functools
import random
from collections import Counter

import pytest

from kloc.base.errors import KlocError
from kloc.tune import optimizer, tuner
from kloc.tune.patterns import FLAT, PATTERNS, Pattern
from kloc.tune.score import Measurement
from kloc.tune.tuner import Verdict


def tune(
    pattern: Pattern, samples: int = 10, noise: float = 0.0, seed: int = 1, name: str = "paper"
) -> tuner.Result:
    """Tune a value from 0 to 1 whose score is the pattern's, with the noise of its measurement."""
    rng = random.Random(seed)

    def measure(value: float | None) -> Measurement:
        score = 0.0 if value is None else pattern(value)
        return Measurement(1.0, 1.0 - score + rng.gauss(0, noise))

    return tuner.tune(
        measure,
        lambda measured, baseline: baseline.memory - measured.memory,
        untuned=0.5,
        count=lambda _: samples,
        optimizer=lambda number: optimizer.make(name, 0.0, 1.0, number, seed),
    )


def test_no_scheme_and_the_untuned_one_are_measured_first() -> None:
    seen: list[tuple[float | None, int, int]] = []
    result = tuner.tune(
        lambda value: Measurement(2.0, 100.0 - (value or 0)),
        lambda measured, baseline: baseline.memory - measured.memory,
        untuned=7.0,
        count=lambda baseline: int(10 / baseline.runtime),
        optimizer=lambda number: optimizer.make("paper", 0.0, 20.0, number, 1),
        report=lambda sample, number, total: seen.append((sample.value, number, total)),
    )
    assert [number for _, number, _ in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert {total for _, _, total in seen} == {7}
    assert seen[0][0] is None and seen[1][0] == 7.0
    assert (result.none.score, result.untuned.score) == (0, 7)
    assert len(result.samples) == 5


@pytest.mark.parametrize("name", optimizer.OPTIMIZERS)
@pytest.mark.parametrize("pattern", ["1 rises", "2 rises, falls, better", "6 falls, rises, better"])
def test_a_clear_gain_is_seen(name: str, pattern: str) -> None:
    result = tune(PATTERNS[pattern], samples=20, noise=0.005, name=name)
    assert result.verdict is Verdict.BETTER


@pytest.mark.parametrize("name", optimizer.OPTIMIZERS)
def test_a_clear_loss_is_seen(name: str) -> None:
    # At its gentlest, a scheme of the paper's fourth pattern does what no scheme does.
    falls = PATTERNS["4 falls"]
    result = tune(lambda value: falls(0.3 + 0.7 * value), samples=20, noise=0.005, name=name)
    assert result.verdict is Verdict.NOT_BETTER


@pytest.mark.parametrize("pattern", [FLAT, PATTERNS["4 falls"], PATTERNS["5 falls, rises, worse"]])
def test_noise_is_not_taken_for_a_gain(pattern: Pattern) -> None:
    verdicts = Counter(tune(pattern, noise=0.05, seed=seed).verdict for seed in range(200))
    assert verdicts[Verdict.BETTER] <= 10
    assert verdicts[Verdict.NOT_BETTER] > 10


def test_a_scheme_without_any_effect_is_not_better() -> None:
    result = tune(FLAT)
    assert result.verdict is not Verdict.BETTER


@pytest.mark.parametrize("samples", [-3, 0, 2])
def test_a_limit_that_is_too_short_says_what_to_do(samples: int) -> None:
    with pytest.raises(KlocError, match=f"leaves {max(0, samples)} samples") as error:
        tune(FLAT, samples=samples)
    assert "--limit" in str(error.value.hint)


@pytest.mark.parametrize("measured", [Measurement(0.0, 1.0), Measurement(1.0, 0.0)])
def test_a_baseline_of_nothing_is_an_error(measured: Measurement) -> None:
    with pytest.raises(KlocError, match="without a scheme"):
        tuner.tune(
            lambda _: measured,
            lambda *_: 0.0,
            untuned=0.5,
            count=lambda _: 3,
            optimizer=functools.partial(optimizer.make, "paper", 0.0, 1.0, seed=1),
        )


def test_a_score_that_is_nan_is_an_error() -> None:
    with pytest.raises(KlocError, match="not a finite number"):
        tuner.tune(
            lambda _: Measurement(1.0, 1.0),
            lambda *_: float("nan"),
            untuned=0.5,
            count=lambda _: 3,
            optimizer=functools.partial(optimizer.make, "paper", 0.0, 1.0, seed=1),
        )
