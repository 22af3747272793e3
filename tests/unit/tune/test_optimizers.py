# SPDX-License-Identifier: GPL-2.0
"""The optimizers behind one interface."""

from __future__ import annotations

import random

import pytest

from kloc.base.errors import UsageError
from kloc.tune import optimizer
from kloc.tune.patterns import FLAT, PATTERNS, Pattern

LOW, HIGH = 1e6, 60e6


def run(
    name: str, pattern: Pattern, samples: int, noise: float = 0.0, seed: int = 1
) -> tuple[optimizer.Optimizer, list[float]]:
    """Return an optimizer that got all its samples of a pattern, and their values."""
    chooser = optimizer.make(name, LOW, HIGH, samples, seed)
    rng = random.Random(seed)
    values = []
    for _ in range(samples):
        values.append(chooser.ask())
        share = (values[-1] - LOW) / (HIGH - LOW)
        chooser.tell(values[-1], pattern(share) + rng.gauss(0, noise))
    return chooser, values


@pytest.mark.parametrize("name", optimizer.OPTIMIZERS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_has_its_best_value_found(name: str, pattern: str) -> None:
    score = PATTERNS[pattern]
    chooser, values = run(name, score, samples=12, noise=0.01)
    assert all(LOW <= value <= HIGH for value in values)
    found = chooser.estimate()
    assert LOW <= found.value <= HIGH
    best = max(score(index / 200) for index in range(201))
    assert best - score((found.value - LOW) / (HIGH - LOW)) < 0.06
    assert len(found.curve) == optimizer.CURVE_POINTS


@pytest.mark.parametrize("name", optimizer.OPTIMIZERS)
def test_the_seed_decides_the_values(name: str) -> None:
    score = PATTERNS["2 rises, falls, better"]
    first, again, other = (run(name, score, 6, seed=seed)[1] for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", optimizer.OPTIMIZERS)
@pytest.mark.parametrize("samples", [3, 4])
def test_few_samples_and_a_flat_relation_are_no_error(name: str, samples: int) -> None:
    chooser, _ = run(name, FLAT, samples)
    assert chooser.estimate().score == pytest.approx(0, abs=1e-6)


def test_samples_after_the_first_60_percent_are_near_the_best() -> None:
    _, values = run(optimizer.PAPER, PATTERNS["2 rises, falls, better"], samples=10)
    score = PATTERNS["2 rises, falls, better"]
    best = max(values, key=lambda value: score((value - LOW) / (HIGH - LOW)))
    assert all(abs(value - best) < (HIGH - LOW) / 6 for value in values[6:])


def test_unknown_optimizers_are_named() -> None:
    with pytest.raises(UsageError, match="unknown optimizer 'papr', did you mean 'paper'"):
        optimizer.make("papr", 0, 1, 10, 1)
