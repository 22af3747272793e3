# SPDX-License-Identifier: GPL-2.0
"""What users should know of schemes that are correct, but may not do what they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kloc.base.sizes import rounded_size
from kloc.schemes import units
from kloc.schemes.scheme import Scheme
from kloc.schemes.sysfs import Attributes, Physical, Target


def of_scheme(scheme: Scheme, attributes: Attributes) -> Iterator[str]:
    """Yield what the intervals of monitoring make of the scheme's limits."""
    aggregation = units.format_time(attributes.aggregation_us)
    if scheme.quota is not None and scheme.quota.time_ms * 1000 > attributes.aggregation_us:
        yield (
            f"time={units.format_time(scheme.quota.time_ms * 1000)} of the quota is longer than an "
            f"aggregation interval ({aggregation}): DAMON does not monitor while it acts"
        )
    marks = scheme.watermarks
    if marks is not None and marks.interval_us < attributes.aggregation_us:
        yield (
            f"interval={units.format_time(marks.interval_us)} of the watermarks is shorter than an "
            f"aggregation interval ({aggregation}): DAMON wakes up more often, but acts only once "
            "in each aggregation interval"
        )


def of_schemes(schemes: Sequence[Scheme], attributes: Attributes) -> list[str]:
    """Return the notes of all schemes, each once."""
    return list(dict.fromkeys(note for one in schemes for note in of_scheme(one, attributes)))


def region_sizes(target: Target, attributes: Attributes) -> str:
    """Return how large regions are on average, "" if the target's size is not known.

    DAMON sees what is hot in a region only as part of it.
    """
    if not isinstance(target, Physical) or not target.ranges:
        return ""
    size = sum(end - start for start, end in target.ranges)
    # Each range has a region at least.
    least, most = (
        rounded_size(size / max(count, len(target.ranges)))
        for count in (attributes.max_regions, attributes.min_regions)
    )
    return f"of {least} on average" if least == most else f"of {least} to {most} on average"
