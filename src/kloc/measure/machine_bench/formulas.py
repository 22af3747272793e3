# SPDX-License-Identifier: GPL-2.0
"""Computes from a profile how long memory accesses take; docs/machine.md explains the formulas.

Times are in ns and rates in lines of 64 bytes per ns, which is what bandwidths in GB/s count in.
"""

from __future__ import annotations

from itertools import pairwise

from kloc.machine.profile import Profile, Tier

LINE = 64
"""Bytes."""

STEPS = 60
"""Halvings of the interval in which the rate of a tier is searched."""


def latency_factor(tier: Tier, utilization: float) -> float:
    """Return the latency at a utilization of the bandwidth, as a multiple of the idle latency."""
    points = tier.loaded
    for (below, low), (above, high) in pairwise(points):
        if utilization <= above:
            return low + (high - low) * (utilization - below) / (above - below)
    return points[-1][1]


def line_ns(tier: Tier, sequential: bool, stored: bool = False) -> float:
    """Return how long a line takes of the tier's bandwidth.

    A line that is accessed out of sequence takes a complete transfer unit. A `stored` line is read
    and, later, written back.
    """
    size = LINE if sequential else tier.unit
    return size / tier.read_bandwidth + (size / tier.write_bandwidth if stored else 0)


def rate(tier: Tier, under_way: float, each_ns: float) -> float:
    """Return the lines per ns of cores that together keep `under_way` lines under way.

    A line takes `each_ns` of the tier's bandwidth. The rate sets the utilization, this sets the
    latency, and the latency sets the rate: the result is where they agree.
    """
    low, high = 0.0, 1 / each_ns
    for _ in range(STEPS):
        middle = (low + high) / 2
        latency = tier.read_latency_ns * latency_factor(tier, middle * each_ns)
        if under_way / latency > middle:
            low = middle
        else:
            high = middle
    return high


def loaded_latency(tier: Tier, bandwidth: float) -> float:
    """Return the latency of a chase while other cores read `bandwidth` GB/s in sequence."""
    latency = tier.read_latency_ns
    for _ in range(STEPS):
        own = tier.unit / latency
        latency = tier.read_latency_ns * latency_factor(
            tier, min(1, (bandwidth + own) / tier.read_bandwidth)
        )
    return latency


def sequential_bandwidth(profile: Profile, tier: Tier, cores: int, stored: bool) -> float:
    """Return the GB/s that cores read, or store, in sequence."""
    under_way = cores * profile.cpu.prefetch
    return LINE * rate(tier, under_way, line_ns(tier, sequential=True, stored=stored))


def overlapping_ns(tier: Tier, under_way: float, stored: bool = False) -> float:
    """Return ns per random access of which `under_way` overlap."""
    return 1 / rate(tier, under_way, line_ns(tier, sequential=False, stored=stored))


def missing_share(profile: Profile, size: int) -> float:
    """Return the share of random accesses to `size` bytes that miss the last-level cache."""
    return 1 - min(1, profile.cpu.llc / size)
