# SPDX-License-Identifier: GPL-2.0
"""The tuner (DAOS, section 3.5): measures settings, and estimates the best one from their scores.

It knows neither DAMON nor processes: a function measures one setting. So it can tune whatever such
a function is given for, on this system or in a machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from kloc.base.errors import KlocError
from kloc.tune import curve
from kloc.tune.curve import SAMPLES_MIN
from kloc.tune.optimizer import Estimate, Optimizer
from kloc.tune.score import Measurement, Score, checked

Measure = Callable[[float | None], Measurement]
"""Measures the workload with a value of the threshold; None: without a scheme."""

EXTRA_RUNS = 2
"""The measurements that are no samples: without a scheme, and with the untuned one."""


class Verdict(Enum):
    """Whether the best value found is better than no scheme."""

    BETTER = "better than no scheme"
    NOT_BETTER = "no scheme is better"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Sample:
    """A measured setting with its score; `value` is None without a scheme."""

    value: float | None
    score: float
    measured: Measurement


@dataclass(frozen=True)
class Result:
    """What the tuner found: the runs without a scheme and with the untuned one, and the samples.

    `margin` is how much noise may add to the gain (`kloc.tune.curve.Curve.margin`), whichever
    optimizer chose the samples.
    """

    none: Sample
    untuned: Sample
    samples: tuple[Sample, ...]
    best: Estimate
    margin: float

    @property
    def gain(self) -> float:
        """How much the estimated score of the best value is above that without a scheme."""
        return self.best.score - self.none.score

    @property
    def verdict(self) -> Verdict:
        """Whether the best value is better than no scheme, by more than noise explains."""
        if self.gain <= 0:
            return Verdict.NOT_BETTER
        return Verdict.BETTER if self.gain > self.margin else Verdict.CANNOT_TELL


def tune(
    measure: Measure,
    score: Score,
    untuned: float,
    count: Callable[[Measurement], int],
    optimizer: Callable[[int], Optimizer],
    report: Callable[[Sample, int, int], None] = lambda sample, number, total: None,
) -> Result:
    """Measure no scheme, the `untuned` value and samples; return all with the best value.

    `count` returns the number of samples, given the measurement without a scheme, and `optimizer`
    makes the optimizer for this number. `report` is called after each measurement, with its number
    and the number of all. Raises KlocError if there are too few samples for a curve.
    """
    baseline = measure(None)
    if not (baseline.runtime > 0 and baseline.memory > 0):
        raise KlocError(
            f"without a scheme, {baseline.runtime:g} s and {baseline.memory:g} bytes were measured",
            "tune a workload that runs for some seconds and uses memory",
        )
    samples = count(baseline)
    check_count(samples)
    total = samples + EXTRA_RUNS

    def scored(value: float | None, measured: Measurement, number: int) -> Sample:
        sample = Sample(value, checked(score(measured, baseline), "the score"), measured)
        report(sample, number, total)
        return sample

    none = scored(None, baseline, 1)
    first = scored(untuned, measure(untuned), 2)
    chooser = optimizer(samples)
    found = []
    for number in range(EXTRA_RUNS + 1, total + 1):
        value = chooser.ask()
        sample = scored(value, measure(value), number)
        chooser.tell(value, sample.score)
        found.append(sample)
    best = chooser.estimate()
    return Result(none, first, tuple(found), best, _margin(found, best))


def check_count(samples: int) -> None:
    """Raise KlocError if there are too few samples for a curve."""
    if samples < SAMPLES_MIN:
        raise KlocError(
            f"the limit is too short: it leaves {max(0, samples)} samples, and a curve needs "
            f"{SAMPLES_MIN}",
            f"raise --limit, or give --samples {SAMPLES_MIN} or more (10 is better)",
        )


def _margin(samples: Sequence[Sample], best: Estimate) -> float:
    """Return the margin of the score at the best value, or at the sample's end nearest to it."""
    values = [sample.value for sample in samples if sample.value is not None]
    scores = [sample.score for sample in samples]
    fitted = curve.fit(values, scores, min(values), max(values))
    return fitted.margin(min(fitted.high, max(fitted.low, best.value)))
