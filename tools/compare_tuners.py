#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the optimizers of `kloc tune` on the six patterns of scores of the DAOS paper's Figure 3.

    PYTHONPATH=src python3 tools/compare_tuners.py
    PYTHONPATH=src python3 tools/compare_tuners.py --samples 6,10,20
    PYTHONPATH=src python3 tools/compare_tuners.py --verdicts --seeds 50

Here python3 must have the packages that pyproject.toml names under `tune` and `optimizer`.

For each pattern, noise and number of samples, each optimizer chooses values, gets their scores with
Gaussian noise, and names the best value. Its regret is how much the true score of this value is
below that of the best one; patterns have scores between about -0.3 and 0.3. The table has the mean
over the seeds, and the greatest regret.

With --verdicts, the table has how often the tuner says that the found value is better than no
scheme, that no scheme is better, and that it cannot tell. The run without a scheme has noise, too.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from kloc.tune import optimizer, tuner
from kloc.tune.patterns import FLAT, PATTERNS, Pattern
from kloc.tune.score import Measurement
from kloc.tune.tuner import Verdict

GRID = 1000

SEEDS = 10


def regret(pattern: Pattern, name: str, samples: int, noise: float, seed: int) -> float:
    """Return the regret of one optimizer with one seed."""
    rng = random.Random(f"noise {seed}")
    chooser = optimizer.make(name, 0.0, 1.0, samples, seed)
    for _ in range(samples):
        value = chooser.ask()
        chooser.tell(value, pattern(value) + rng.gauss(0, noise))
    best = max(pattern(index / GRID) for index in range(GRID + 1))
    return best - pattern(chooser.estimate().value)


def rows(
    names: Sequence[str], samples: Sequence[int], noises: Sequence[float], seeds: int
) -> Iterator[str]:
    """Yield the lines of the table."""
    heads = "".join(f"{name:>12}{'worst':>8}" for name in names)
    yield f"{'pattern':<24}{'samples':>8}{'noise':>7}{heads}"
    everything: dict[str, list[float]] = {name: [] for name in names}
    for count in samples:
        for noise in noises:
            for title, pattern in PATTERNS.items():
                cells = ""
                for name in names:
                    found = [regret(pattern, name, count, noise, seed) for seed in range(seeds)]
                    everything[name] += found
                    cells += f"{statistics.mean(found):12.4f}{max(found):8.3f}"
                yield f"{title:<24}{count:>8}{noise:>7g}{cells}"
    cells = "".join(
        f"{statistics.mean(found):12.4f}{max(found):8.3f}" for found in everything.values()
    )
    yield f"{'all':<39}{cells}"


def verdict(pattern: Pattern, name: str, samples: int, noise: float, seed: int) -> Verdict:
    """Return what the tuner says of one tuning."""
    rng = random.Random(f"noise {seed}")

    def measure(value: float | None) -> Measurement:
        score = 0.0 if value is None else pattern(value)
        return Measurement(1.0, 10.0 - score + rng.gauss(0, noise))

    result = tuner.tune(
        measure,
        lambda measured, baseline: baseline.memory - measured.memory,
        untuned=0.5,
        count=lambda _: samples,
        optimizer=lambda number: optimizer.make(name, 0.0, 1.0, number, seed),
    )
    return result.verdict


def verdict_rows(
    names: Sequence[str], samples: Sequence[int], noises: Sequence[float], seeds: int
) -> Iterator[str]:
    """Yield the lines of the table of verdicts."""
    words = {Verdict.BETTER: "better", Verdict.NOT_BETTER: "not", Verdict.CANNOT_TELL: "?"}
    counts = "".join(f"{word:>8}" for word in words.values())
    heads = "".join(f"{name:>14}{counts}" for name in names)
    yield f"{'pattern':<24}{'samples':>8}{'noise':>7}{heads}"
    for count in samples:
        for noise in noises:
            for title, pattern in {**PATTERNS, "flat": FLAT}.items():
                cells = ""
                for name in names:
                    found = Counter(
                        verdict(pattern, name, count, noise, seed) for seed in range(seeds)
                    )
                    cells += " " * 14 + "".join(f"{found[one]:8}" for one in words)
                yield f"{title:<24}{count:>8}{noise:>7g}{cells}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="compare the optimizers of kloc tune")
    parser.add_argument("--samples", default="10", help="numbers of samples (default: 10)")
    parser.add_argument("--noise", default="0.02,0.05", help="standard deviations")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many seeds (default: 10)")
    parser.add_argument("--optimizers", default=",".join(optimizer.OPTIMIZERS))
    parser.add_argument("--verdicts", action="store_true", help="count the verdicts instead")
    args = parser.parse_args()
    numbers = [int(text) for text in args.samples.split(",")]
    noises = [float(text) for text in args.noise.split(",")]
    table = verdict_rows if args.verdicts else rows
    for line in table(args.optimizers.split(","), numbers, noises, args.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
