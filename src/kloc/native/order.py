# SPDX-License-Identifier: GPL-2.0
"""The order of runs: each round has every policy once, in an order of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence


def rounds(policies: Sequence[str], count: int, seed: int) -> list[list[str]]:
    """Return the policies of each round in the order to run them, drawn by `seed`.

    What changes slowly, such as the temperature or the fill of a disk, then meets all of them, and
    none always follows the same one.
    """
    drawn = random.Random(seed)
    return [drawn.sample(policies, len(policies)) for _ in range(count)]
