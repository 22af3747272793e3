# SPDX-License-Identifier: GPL-2.0
"""An optimizer with a Gaussian process and expected improvement, by scikit-optimize."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
from skopt import Optimizer
from skopt.learning.gaussian_process import GaussianProcessRegressor
from skopt.learning.gaussian_process.kernels import ConstantKernel, Matern

from kloc.tune.optimizer import Estimate, points
from kloc.tune.samples import count_global

SMOOTHNESS = (0.1, 2.0)
"""Between which parts of the range the scale of the relation is looked for: the patterns of the
paper's Figure 3 have two inflection points at most."""


class Gaussian:
    """The optimizer, for values from `low` to `high`."""

    def __init__(self, low: float, high: float, number: int, seed: int) -> None:
        self._low, self._high = low, high
        kernel = ConstantKernel(1.0) * Matern(
            length_scale=0.5, length_scale_bounds=SMOOTHNESS, nu=2.5
        )
        self._optimizer = Optimizer(
            [(low, high)],
            GaussianProcessRegressor(
                kernel=kernel,
                noise="gaussian",
                normalize_y=True,
                n_restarts_optimizer=2,
                random_state=seed,
            ),
            n_initial_points=count_global(number),
            initial_point_generator="lhs",
            acq_func="EI",
            acq_optimizer="sampling",
            random_state=seed,
        )
        self._result: Any = None
        self._told: list[tuple[float, float]] = []

    def ask(self) -> float:
        """Return a value of the whole range, or after 60 % of the samples the most promising."""
        return float(self._optimizer.ask()[0])

    def tell(self, value: float, score: float) -> None:
        """Learn the score of a value."""
        self._told.append((value, score))
        with warnings.catch_warnings():
            # A flat relation is at the bounds of the kernel's parameters.
            warnings.simplefilter("ignore")
            self._result = self._optimizer.tell([value], -score)

    def estimate(self) -> Estimate:
        """Return the value with the highest mean of the process."""
        model = self._result.models[-1] if self._result.models else self._fitted()
        space = self._result.space
        drawn = points(self._low, self._high)
        means = model.predict(space.transform([[one] for one in drawn]))
        best = int(numpy.argmin(means))
        curve = tuple(zip(drawn, map(float, -means), strict=True))
        return Estimate(*curve[best], curve)

    def _fitted(self) -> Any:
        """Return the model of samples that are all initial ones."""
        model = self._optimizer.base_estimator_
        values, scores = zip(*self._told, strict=True)
        transformed = self._result.space.transform([[value] for value in values])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(transformed, [-score for score in scores])


def make(low: float, high: float, number: int, seed: int) -> Gaussian:
    """Return the optimizer, as `kloc.tune.optimizer.make` describes it."""
    return Gaussian(low, high, number, seed)
