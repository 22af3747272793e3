# SPDX-License-Identifier: GPL-2.0
"""How long a policy took to settle."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from kloc.build.guest_image import FILES
from kloc.results import settling
from support import made_up

# Pages that 1 % of fast memory has.
FEW = (192 << 20) / 4096 / 100


def run(*slices: tuple[float, int], **other: Any) -> dict[str, Any]:
    """Return a run after a warm-up with slices of a duration in ms and moved pages."""
    return made_up.run("tpp", 100, warm_up=made_up.warm_up(*slices, **other))


STEADY = [(100, 0)] * 8


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        (STEADY, 0.0),
        # The first one took longer, or moved more.
        ([(150, 0), *STEADY], 0.15),
        ([(100, 5000), *STEADY], 0.1),
        ([(150, 0), (130, 0), *STEADY], 0.28),
        # One that moved as few as do not matter; as many pages each time.
        ([(100, int(FEW)), *STEADY], 0.0),
        ([(100, 5000), *[(100, 2000), (100, 2090)] * 4], 0.1),
        # A noisy slice, later.
        ([*STEADY, (150, 0), *STEADY], 0.0),
        # Too few to tell.
        (STEADY[1:], None),
        # Slower and slower; more and more pages.
        ([(100 + 3 * i, 0) for i in range(8)], None),
        ([(100, 1000 * i) for i in range(8)], None),
    ],
)
def test_a_machine_has_settled_from_the_slice_on_after_which_all_are_alike(
    slices: list[tuple[float, int]], expected: float | None
) -> None:
    assert settling.seconds(run(*slices)) == (None if expected is None else pytest.approx(expected))


def agent_says(slices: Sequence[tuple[int, int]], few: int) -> bool:
    """Return whether the agent would end the warm-up after these slices."""
    lines = "".join(f"{at} {ns} {moved}\n" for at, (ns, moved) in enumerate(slices, 1))
    command = ["awk", "-v", f"few={few}", "-f", str(FILES / "settled.awk")]
    return subprocess.run(command, input=lines, text=True).returncode == 0


def made_up_slices(random: Random, noise: float, trend: float) -> list[tuple[int, int]]:
    """Return 16 slices of 60 ms on average that differ at random, and change steadily."""
    return [
        (
            round(60e6 * (1 + trend * at) * random.gauss(1, noise)),
            max(0, round(3000 * (1 + trend * at) * random.gauss(1, noise))),
        )
        for at in range(16)
    ]


def settled_share(noise: float, trend: float = 0.0) -> float:
    """Return the share of made-up warm-ups that the agent ends by the 16th slice."""
    random = Random(1)
    warm_ups = [made_up_slices(random, noise, trend) for _ in range(20)]
    return sum(
        any(agent_says(slices[:count], 491) for count in range(8, 17)) for slices in warm_ups
    ) / len(warm_ups)


def test_noise_does_not_keep_a_steady_machine_from_settling() -> None:
    assert settled_share(noise=0.01) == 1
    assert settled_share(noise=0.05) >= 0.9


def test_a_trend_keeps_a_machine_from_settling() -> None:
    assert settled_share(noise=0.0, trend=0.05) == 0
    assert settled_share(noise=0.01, trend=-0.03) == 0


def test_one_noisy_slice_fools_nobody() -> None:
    steady = [(60_000_000, 100)] * 8
    for at in range(8):
        for noisy in ((90_000_000, 100), (60_000_000, 9000)):
            assert agent_says([*steady[:at], noisy, *steady[at + 1 :]], 491)
    # Four slow slices before four fast ones are no noise.
    assert not agent_says([(90_000_000, 100)] * 4 + steady[:4], 491)


def test_the_agent_decides_as_the_results_do() -> None:
    random = Random(2)
    for noise in (0.0, 0.02, 0.1):
        for trend in (0.0, 0.005, 0.02, -0.02):
            slices = made_up_slices(random, noise, trend)
            for count in (7, 8, 11, 16):
                records = [
                    {"time_ns": float(ns), "moved_pages": float(moved)}
                    for ns, moved in slices[:count]
                ]
                assert settling.has_settled(records, 491) == agent_says(slices[:count], 491)


def test_time_to_settle_is_the_median_over_seeds() -> None:
    runs = [run((first, 9000), *STEADY) for first in (100, 250, 5000)]
    assert settling.text(runs) == "250"


def test_one_seed_that_has_not_settled_makes_the_time_a_lower_bound() -> None:
    runs = [run(*STEADY), run((100, 0), (500, 0), (1000, 0))]
    assert settling.text(runs) == "> 1,200"


def test_a_cold_run_has_no_time_to_settle() -> None:
    cold = made_up.run("tpp", 100, warm_up=None)
    assert settling.seconds(cold) is None
    assert settling.text([cold]) == ""
