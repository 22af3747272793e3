# SPDX-License-Identifier: GPL-2.0
"""Computes from a profile how long memory accesses take; docs/machine.md explains the formulas.

Times are in ns and rates in lines of 64 bytes per ns, which is what bandwidths in GB/s count in.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from kloc.machine.profile import Profile, Remote, Tier

LINE = 64
"""Bytes."""

REWRITTEN = 0.06
"""The share of units larger than a line that a stream of stores writes twice, as measured.

The last-level cache does not evict the lines of a stream in their order exactly. Some are written
back when the tier's buffer of 16 units (machine/plugin/tier.h) has lost their unit.
"""

STEPS = 60
"""Halvings of the interval in which the rate of a tier is searched."""


def latency_factor(part: Tier | Remote, utilization: float) -> float:
    """Return the latency at a utilization of the bandwidth, as a multiple of the idle latency."""
    points = part.loaded
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
    again = REWRITTEN if sequential and tier.unit > LINE else 0
    written = (1 + again) * size / tier.write_bandwidth
    return size / tier.read_bandwidth + (written if stored else 0)


def rate(tier: Tier, under_way: float, each_ns: float, remote: Remote | None = None) -> float:
    """Return the lines per ns of cores that together keep `under_way` lines under way.

    A line takes `each_ns` of the tier's bandwidth. The rate sets the utilization, this sets the
    latency, and the latency sets the rate: the result is where they agree. Lines that come over the
    link `remote` have its latency, and take its bandwidth, too.
    """
    link_ns = LINE / remote.bandwidth if remote else 0.0

    def latency(lines: float) -> float:
        own = tier.read_latency_ns * latency_factor(tier, lines * each_ns)
        return own + (remote.latency_ns * latency_factor(remote, lines * link_ns) if remote else 0)

    return _agreed(lambda lines: under_way / latency(lines), 1 / max(each_ns, link_ns))


def shared_rate(tier: Tier, under_way: float, each_ns: float, remote: Remote) -> float:
    """Return the lines per ns of the cores of two sockets that share the memory of one.

    The cores of each keep `under_way` lines under way, of which those of one socket come over the
    link `remote`. A line takes `each_ns` of the tier's bandwidth.
    """

    def reached(lines: float) -> float:
        near = tier.read_latency_ns * latency_factor(tier, lines * each_ns)

        def over_link(part: float) -> float:
            factor = latency_factor(remote, part * LINE / remote.bandwidth)
            return under_way / (near + remote.latency_ns * factor)

        return under_way / near + _agreed(over_link, remote.bandwidth / LINE)

    return _agreed(reached, 1 / each_ns)


def _agreed(reached: Callable[[float], float], limit: float) -> float:
    """Return the rate, `limit` at most, at which `reached`, which falls with it, gives it."""
    low, high = 0.0, limit
    for _ in range(STEPS):
        middle = (low + high) / 2
        if reached(middle) > middle:
            low = middle
        else:
            high = middle
    return high


def loaded_latency(tier: Tier, bandwidth: float, remote: Remote | None = None) -> float:
    """Return the latency of a chase while other cores read `bandwidth` GB/s in sequence.

    With `remote`, all of them are on one socket, and the memory is on the other one.
    """
    latency = tier.read_latency_ns
    for _ in range(STEPS):
        own = tier.unit / latency
        over_link = (bandwidth + LINE / latency) / remote.bandwidth if remote else 0
        latency = tier.read_latency_ns * latency_factor(
            tier, min(1, (bandwidth + own) / tier.read_bandwidth)
        )
        if remote is not None:
            latency += remote.latency_ns * latency_factor(remote, min(1, over_link))
    return latency


def sequential_bandwidth(
    profile: Profile, tier: Tier, cores: int, stored: bool, remote: Remote | None = None
) -> float:
    """Return the GB/s that cores read, or store, in sequence; with `remote`, over this link."""
    under_way = cores * profile.cpu.prefetch
    return LINE * rate(tier, under_way, line_ns(tier, sequential=True, stored=stored), remote)


def overlapping_ns(tier: Tier, under_way: float, stored: bool = False) -> float:
    """Return ns per random access of which `under_way` overlap."""
    return 1 / rate(tier, under_way, line_ns(tier, sequential=False, stored=stored))


def missing_share(profile: Profile, size: int) -> float:
    """Return the share of random accesses to `size` bytes that miss the last-level cache."""
    return 1 - min(1, profile.cpu.llc / size)
