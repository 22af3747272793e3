# SPDX-License-Identifier: GPL-2.0
"""Linux's own periods: divided by a machine's scale, never below what the kernel takes."""

from __future__ import annotations

import pytest
from msgspec import structs

from kloc.machine import periods, profile
from kloc.machine.profile import Profile

EXPIRE = "/proc/sys/vm/dirty_expire_centisecs"
INTERVAL = "/proc/sys/vm/dirty_writeback_centisecs"


def scaled(scale: float) -> Profile:
    return structs.replace(profile.read("tiered"), scale=scale)


@pytest.mark.parametrize(
    ("scale", "expire", "interval", "commit"),
    [
        # An unscaled machine has Linux's defaults.
        (1, "3000", "500", 5),
        (2.5, "1200", "200", 2),
        (16, "188", "31", 1),
        (42.7, "70", "12", 1),
        (1e6, "1", "1", 1),
    ],
)
def test_writeback_is_scaled(scale: float, expire: str, interval: str, commit: int) -> None:
    machine = scaled(scale)
    found = periods.settings(machine)
    assert (found[EXPIRE], found[INTERVAL]) == (expire, interval)
    assert periods.commit_seconds(machine) == commit


def test_an_unscaled_machine_has_the_defaults() -> None:
    assert periods.settings(scaled(1)) == {
        path: str(value) for path, value in periods.DEFAULTS.items()
    }
