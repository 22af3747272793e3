# SPDX-License-Identifier: GPL-2.0
"""`kloc cold --bound`: prints which memory costs at most a bound on slowdown in slow memory.

The policy thermostat counts how often regions of memory are visited (Thermostat, ASPLOS 2017).
"""

from __future__ import annotations

import argparse
import os
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from kloc.base import revision, terminal
from kloc.base.words import plural
from kloc.commands import output
from kloc.server import thermostat
from kloc.server.thermostat import BACK, COLD, LEAVING, REGION_BYTES, SAMPLED

if TYPE_CHECKING:
    from rich.table import Table

DURATION = 1.0
"""For how long processor time is measured by default, in seconds."""

LISTED = 20
"""The regions that are printed, the coldest ones; --json writes all."""

PLACES = {
    COLD: "in slow memory",
    LEAVING: "on the way to slow memory",
    BACK: "on the way back",
    SAMPLED: "in fast memory",
}
"""Where regions are whose visits are counted, by their state."""

MIB = 1 << 20


def show(args: argparse.Namespace) -> int:
    """Print the regions that are counted, and those that are within the bound."""
    content = document(args.bound, args.duration or DURATION)
    output.deliver(args, content, lambda: _print(content))
    for remark in _remarks(content):
        terminal.say(remark)
    return 0


def document(percent: float, seconds: float) -> dict[str, Any]:
    """Return what --json writes: regions, the coldest first, and what of them is within a bound.

    The bound is `percent` of the processor time, which is measured for `seconds`. Raises KlocError.
    """
    # What cannot be read is an error before kloc waits.
    thermostat.read_state()
    began, used = time.monotonic(), thermostat.read_processor_ns()
    time.sleep(seconds)
    elapsed = time.monotonic() - began
    processor_ns = (thermostat.read_processor_ns() - used) / elapsed
    state = thermostat.read_state()
    visit_ns = thermostat.read_visit_ns()
    budget = processor_ns * percent / 100
    counted = sorted(
        (one for one in state.regions if one.is_counted), key=lambda one: (one.rate, one.address)
    )
    costs = list(accumulate(one.rate * visit_ns for one in counted))
    within = bisect_right(costs, budget)
    return {
        "kloc": revision.commit(),
        "kernel": os.uname().release,
        "bound": percent,
        "seconds": round(elapsed, 3),
        "processor_ns": round(processor_ns),
        "visit_ns": visit_ns,
        "budget_ns": round(budget),
        "fast_regions": state.fast,
        "sample": state.sample,
        "cold": state.cold,
        "region_bytes": REGION_BYTES,
        "within": {
            "regions": within,
            "bytes": within * REGION_BYTES,
            "cost_ns": costs[within - 1] if within else 0,
        },
        "regions": [
            {"address": one.address, "state": one.state, "visits": one.rate} for one in counted
        ],
    }


def _remarks(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to know about the figures."""
    states = [one["state"] for one in content["regions"]]
    if not states:
        yield (
            "no region is counted yet: the policy looks at some in each period, which takes "
            "thermostat/rounds times scan_us"
        )
    if (shown := states.count(COLD)) < content["cold"]:
        yield (
            f"{plural(content['cold'], 'region')} in slow memory, of which {shown} are counted "
            f"here: the kernel shows at most {thermostat.LISTED} of each state and node"
        )


def _print(content: Mapping[str, Any]) -> None:
    out = terminal.stdout()
    terminal.print_line(
        f"Linux {content['kernel']}: fast memory has {plural(content['fast_regions'], 'region')} "
        f"of 2 MiB, of which this period looks at {content['sample']}"
    )
    if not content["regions"]:
        return
    out.print(_places(content))
    within = content["within"]
    terminal.print_line(
        f"within {content['bound']:g} % of the processor time, {_ms(content['budget_ns'])} of "
        f"{_ms(content['processor_ns'])} ms/s: the coldest {within['regions']} of "
        f"{plural(len(content['regions']), 'counted region')}, {within['bytes'] // MIB:,} MiB, "
        f"which cost {_ms(within['cost_ns'])} ms/s"
    )
    if within["regions"]:
        out.print(_coldest(content))
    if (more := within["regions"] - LISTED) > 0:
        terminal.print_line(f"{plural(more, 'more region')} within the bound: --json writes all")


def _places(content: Mapping[str, Any]) -> Table:
    """Return the table of all counted regions, by where they are."""
    drawn = _empty("memory", "regions", "MiB", "visits/s", "cost, ms/s")
    for state, place in PLACES.items():
        visits = [one["visits"] for one in content["regions"] if one["state"] == state]
        if visits:
            drawn.add_row(place, f"{len(visits):,}", *_figures(content, len(visits), sum(visits)))
    return drawn


def _coldest(content: Mapping[str, Any]) -> Table:
    """Return the table of the coldest regions within the bound, with sums from the first on."""
    drawn = _empty("address", "visits/s", "cost, ms/s", "in sum", "", left=(0, 4))
    visits = 0
    for one in content["regions"][: min(LISTED, content["within"]["regions"])]:
        visits += one["visits"]
        drawn.add_row(
            f"{one['address']:#x}",
            f"{one['visits']:,}",
            _ms(one["visits"] * content["visit_ns"]),
            _ms(visits * content["visit_ns"]),
            PLACES[one["state"]],
        )
    return drawn


def _empty(*columns: str, left: tuple[int, ...] = (0,)) -> Table:
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(columns):
        drawn.add_column(name, justify="left" if number in left else "right")
    return drawn


def _figures(content: Mapping[str, Any], regions: int, visits: int) -> list[str]:
    """Return MiB, visits and cost of some regions."""
    mib = regions * content["region_bytes"] // MIB
    return [f"{mib:,}", f"{visits:,}", _ms(visits * content["visit_ns"])]


def _ms(ns: float) -> str:
    return f"{ns / 1e6:,.2f}"
