# SPDX-License-Identifier: GPL-2.0
"""Schemes and monitoring on a divided machine: as many intervals, and the same rates."""

from __future__ import annotations

import pytest

from kloc.schemes import scaled, text, units
from kloc.schemes.scheme import Scheme
from kloc.schemes.sysfs import Attributes

FULL = Attributes()
SCALES = (1.0, 16.0, 32.0, 42.7)


def divided(line: str, scale: float) -> Scheme:
    """Return the scheme of a line on a machine divided by `scale`."""
    (one,) = scaled.schemes(text.parse(line, "test"), FULL, scaled.attributes(FULL, scale))
    return one


@pytest.mark.parametrize("scale", SCALES)
def test_an_interval_has_as_many_samples_and_checks_a_second_stay(scale: float) -> None:
    attributes = scaled.attributes(FULL, scale)
    assert attributes.samples == FULL.samples
    assert attributes.aggregation_us == attributes.samples * attributes.sampling_us
    full = FULL.max_regions / FULL.sampling_us
    assert attributes.max_regions / attributes.sampling_us == pytest.approx(full, rel=0.05)
    assert attributes.update_us == pytest.approx(FULL.update_us / scale, abs=1)


def test_regions_are_never_fewer_than_damon_takes() -> None:
    attributes = scaled.attributes(FULL, 100_000)
    assert (attributes.min_regions, attributes.max_regions) == (3, 3)
    assert attributes.sampling_us == 1


@pytest.mark.parametrize("scale", SCALES)
def test_ages_are_as_many_intervals(scale: float) -> None:
    one = divided("4K max min min 5s{1s..60s} 1m pageout", scale)
    interval = scaled.attributes(FULL, scale).aggregation_us
    assert (one.min_age, one.max_age) == (50 * interval, 600 * interval)
    assert divided("4K max min min min max pageout", scale).max_age == units.MAX


@pytest.mark.parametrize("scale", SCALES)
def test_quotas_stay_the_same_by_the_second(scale: float) -> None:
    quota = divided("4K max min min 5s max pageout quota bytes=128M reset=1s", scale).quota
    assert quota is not None
    assert quota.size / quota.reset_ms == pytest.approx((128 << 20) / 1000, rel=0.03)
    assert quota.reset_ms == pytest.approx(1000 / scale, abs=1)


@pytest.mark.parametrize("scale", SCALES)
def test_quotas_are_whole_pages_and_no_limit_stays_none(scale: float) -> None:
    quota = divided("4K max min min 5s max pageout quota bytes=128M reset=1s", scale).quota
    assert quota is not None and quota.size > 0 and quota.size % 4096 == 0
    small = divided("4K max min min 5s max pageout quota bytes=4K reset=1s", scale).quota
    assert small is not None and small.size == 4096
    timed = divided("4K max min min 5s max pageout quota time=10ms reset=1s", scale).quota
    assert timed is not None and timed.size == 0


def test_a_quota_of_time_keeps_at_least_a_millisecond() -> None:
    quota = divided("4K max min min 5s max pageout quota time=10ms reset=1s", 42.7).quota
    assert quota is not None and (quota.time_ms, quota.reset_ms) == (1, 100)


def test_watermarks_are_looked_at_as_often() -> None:
    line = "4K max min min 5s max pageout watermarks metric=free_mem_rate interval=5s "
    marks = divided(line + "high=50% mid=40% low=20%", 32).watermarks
    assert marks is not None and (marks.high, marks.low) == (500, 200)
    assert marks.interval_us == pytest.approx(5e6 / 32, rel=0.01)
