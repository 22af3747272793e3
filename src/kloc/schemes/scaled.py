# SPDX-License-Identifier: GPL-2.0
"""Schemes and monitoring of a full-size machine, for a machine whose capacities are divided.

Intervals and ages are divided, so that as much of a workload happens in an interval as on the
full-size machine. The number of regions is divided, too: a region then has the size that it has
there, and DAMON checks as many regions in a second, which is its overhead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from kloc.schemes.scheme import PAGE, Quota, Scheme
from kloc.schemes.sysfs import Attributes
from kloc.schemes.units import MAX

REGIONS_MIN = 3
"""The fewest regions that DAMON takes as a limit."""


def attributes(full: Attributes, scale: float) -> Attributes:
    """Return the monitoring of a machine divided by `scale`; intervals have as many samples."""
    sampling = max(1, round(full.sampling_us / scale))
    return Attributes(
        sampling_us=sampling,
        aggregation_us=sampling * full.samples,
        update_us=max(1, round(full.update_us / scale)),
        min_regions=max(REGIONS_MIN, round(full.min_regions / scale)),
        max_regions=max(REGIONS_MIN, round(full.max_regions / scale)),
    )


def schemes(full: Sequence[Scheme], before: Attributes, after: Attributes) -> list[Scheme]:
    """Return the schemes for the attributes `after`, which are `before` divided by a scale.

    An age is as many aggregation intervals as before. Quotas are budgets per second and stay the
    same, for shorter intervals.
    """
    return [
        replace(
            one,
            min_age=_age(one.min_age, before, after),
            max_age=_age(one.max_age, before, after),
            quota=one.quota and _quota(one.quota, before, after),
            watermarks=one.watermarks
            and replace(
                one.watermarks, interval_us=_age(one.watermarks.interval_us, before, after)
            ),
            tuned=None,
        )
        for one in full
    ]


def _age(age: int, before: Attributes, after: Attributes) -> int:
    if age in (0, MAX):
        return age
    return max(1, round(Fraction(age * after.aggregation_us, before.aggregation_us)))


def _quota(quota: Quota, before: Attributes, after: Attributes) -> Quota:
    """Return the quota for shorter reset intervals.

    A limit of time has at least a millisecond, and one of bytes is whole pages: DAMON never sees
    another as used up, so it would act on the first regions in each interval, and on no others.
    """
    limits = [quota.reset_ms, *([quota.time_ms] if quota.time_ms else [])]
    divisor = min(Fraction(before.aggregation_us, after.aggregation_us), *map(Fraction, limits))
    return replace(
        quota,
        time_ms=round(quota.time_ms / divisor),
        size=PAGE * max(1, round(quota.size / divisor / PAGE)) if quota.size else 0,
        reset_ms=max(1, round(quota.reset_ms / divisor)),
    )
