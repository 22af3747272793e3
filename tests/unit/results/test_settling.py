# SPDX-License-Identifier: GPL-2.0
"""How long a policy took to settle."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import settling
from support import made_up

# Pages that 1 % of fast memory has.
FEW = (192 << 20) / 4096 / 100


def run(*slices: tuple[float, int], **other: Any) -> dict[str, Any]:
    """Return a run after a warm-up with slices of a duration in ms and moved pages."""
    return made_up.run("tpp", 100, warm_up=made_up.warm_up(*slices, **other))


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        # Alike from the first one on.
        ([(100, 0), (105, 0), (100, 0)], 0.0),
        # One that took longer.
        ([(150, 0), (100, 0), (100, 0), (100, 0)], 0.15),
        # One that moved more, and one that moved as few as do not matter.
        ([(100, 5000), (100, int(FEW)), (100, 0), (100, 9)], 0.1),
        # As many pages each time.
        ([(100, 5000), (100, 2000), (100, 2000), (100, 2090)], 0.1),
        # A later slice is not alike.
        ([(100, 0), (100, 0), (100, 0), (106, 0)], None),
        ([(100, 2000), (100, 2000), (100, 2101)], None),
        # Too few to tell.
        ([(100, 0), (100, 0)], None),
    ],
)
def test_a_machine_has_settled_from_the_slice_on_after_which_all_are_alike(
    slices: list[tuple[float, int]], expected: float | None
) -> None:
    assert settling.seconds(run(*slices)) == (None if expected is None else pytest.approx(expected))


def test_time_to_settle_is_the_median_over_seeds() -> None:
    runs = [run((first, 9000), *[(100, 0)] * 3) for first in (100, 250, 5000)]
    assert settling.text(runs) == "250"


def test_one_seed_that_has_not_settled_makes_the_time_a_lower_bound() -> None:
    runs = [run(*[(100, 0)] * 3), run((100, 0), (500, 0), (1000, 0))]
    assert settling.text(runs) == "> 950"


def test_a_cold_run_has_no_time_to_settle() -> None:
    cold = made_up.run("tpp", 100, warm_up=None)
    assert settling.seconds(cold) is None
    assert settling.text([cold]) == ""
