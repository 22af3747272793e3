# SPDX-License-Identifier: GPL-2.0
"""What is said of schemes that may not do what they seem to."""

from __future__ import annotations

import pytest

from kloc.schemes import notes, text
from kloc.schemes.sysfs import Attributes, Physical, Processes

GIB = 1 << 30
MARKS = "watermarks metric=free_mem_rate high=50% mid=40% low=20%"


def found(words: str, aggregation_us: int) -> list[str]:
    schemes = text.parse(f"4K max min min 1s max pageout {words}\n" * 2, "f")
    return notes.of_schemes(schemes, Attributes(aggregation_us=aggregation_us))


def test_a_time_above_the_aggregation_interval_stops_monitoring() -> None:
    (note,) = found("quota time=500ms", 100_000)
    assert note.startswith("time=500ms of the quota is longer than an aggregation interval (100ms)")
    assert found("quota time=100ms", 100_000) == []


def test_watermarks_are_not_acted_on_before_the_end_of_an_aggregation_interval() -> None:
    (note,) = found(f"{MARKS} interval=1s", 2_000_000)
    assert note.startswith("interval=1s of the watermarks is shorter")
    assert found(f"{MARKS} interval=2s", 2_000_000) == []


@pytest.mark.parametrize(
    ("ranges", "regions", "sizes"),
    [
        (((0, 250 * GIB),), (10, 1000), "of 256 MiB to 25.0 GiB on average"),
        (((0, GIB), (2 * GIB, 3 * GIB)), (4, 4), "of 512 MiB on average"),
        (tuple((2 * at * GIB, (2 * at + 1) * GIB) for at in range(8)), (3, 4), "of 1.0 GiB on av"),
        ((), (10, 1000), ""),
    ],
)
def test_regions_have_a_mean_size(
    ranges: tuple[tuple[int, int], ...], regions: tuple[int, int], sizes: str
) -> None:
    attributes = Attributes(min_regions=regions[0], max_regions=regions[1])
    assert notes.region_sizes(Physical(ranges), attributes).startswith(sizes)
    assert notes.region_sizes(Processes((12,)), attributes) == ""
