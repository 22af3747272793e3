# SPDX-License-Identifier: GPL-2.0
"""Notes on a run: what to know about its figures, such as a policy that did nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from kloc.base.words import plural
from kloc.machine import guest_console
from kloc.machine.job import Raw
from kloc.measure import daemon_use, movers
from kloc.measure.kernel_counts import DEMOTED, kernel_counts
from kloc.measure.policy import Policy

EVICTED = ("pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged")
"""Counters of reclaimed pages, which include demoted ones.

The difference is evicted to storage. A bound with evictions includes waits for storage.
"""

UNDESCRIBED = (
    "a kernel without kloc's driver: kinds of pages are unknown, and moved pages are those of "
    "/proc/vmstat and of DAMON's schemes"
)
"""The note on a kernel that does not describe its pages and moves."""

ONE_TIER = (
    "the kernel has fast and slow memory in one tier, and so demotes and promotes nothing; "
    "Linux 6.7 and later with CONFIG_ACPI_HMAT knows the tiers"
)
"""The note on a kernel that does not tell the tiers apart."""

SLICES_SETTLED = 8
"""So many slices show whether the machine has settled (machine/guest/settled.awk)."""

IDLE_BEFORE_MAX_NS = 20_000_000
"""If each core was idle for longer than this just before the region, on average, it is noted.

Policies scan every 23 ms on machine tiered: a longer break makes everything look unused.
"""

CLOCK_ERROR_MAX = 0.01
"""A larger difference of the guest's clock from simulated time is noted."""


def notes(policy: Policy, run: Mapping[str, Any], raw: Raw, described: bool) -> list[str]:
    """Return the notes of a run: warm-up, another kernel, an idle policy, evictions and so on.

    `described`: whether the kernel has described its pages to the timing model.
    """
    lines = [note] if (note := _warm_up_note(run["warm_up"], run["cold"])) else []
    idle_ns = run["idle_before_ns"] / run["cores"]
    if idle_ns > IDLE_BEFORE_MAX_NS:
        before = "warm-up" if run["warm_up"] else "load"
        lines.append(f"cores were idle for {idle_ns / 1e6:.0f} ms between {before} and region")
    if not described:
        lines.append(UNDESCRIBED)
    if raw.frames.get("tiers") == "1":
        lines.append(ONE_TIER)
    if absent := raw.frames.get("absent", "").split():
        lines.append(f"not set, because the kernel does not have it: {', '.join(absent)}")
    counted = {
        **{way: _moved(run, way) for way in ("promoted", "demoted")},
        "hint_faults": run["hint_faults"],
        "monitored": sum(
            thread["time_ns"] for name, thread in run["background"].items() if "kdamond" in name
        ),
        # Since the machine booted: what a scheme reclaims while the workload loads stays so.
        **since_boot(raw.frames),
    }
    without = policy.scheme is not None and not policy.scheme.runs_for(run["workload"])
    expect = () if without else policy.expect
    idle = [counter for counter in expect if not counted[counter]]
    if expect and len(idle) == len(expect):
        lines.append(f"{policy.name} did nothing here: no {_words(idle)}")
    elif idle:
        lines.append(f"no {_words(idle)}")
    if without:
        lines.append("without its scheme, which kloc tune found no good value of")
    tuned = policy.scheme.tuned.get(run["workload"]) if policy.scheme else None
    if tuned is not None and tuned.seed == run["seed"]:
        lines.append(f"the scheme was tuned on this seed, {tuned.seed}: choose another one")
    if policy.daemon is not None:
        lines += daemon_use.notes(run, policy.daemon)
    # Reclaim counts the pages that it demotes as reclaimed, too.
    evicted = sum(run["vmstat"][name] for name in EVICTED)
    demoted = sum(run["vmstat"][name] for name in DEMOTED)
    evicted -= demoted - movers.on_lists(run["tiering"], "demoted")
    if evicted > 0:
        pages = "page was" if evicted == 1 else "pages were"
        lines.append(f"{evicted} {pages} evicted to storage")
    # The kernel's log is more complete than the console, which omits minor messages.
    warnings = guest_console.WARNING.findall(raw.frames.get("kernel", raw.console))
    if warnings:
        lines.append(f"the guest's kernel printed {plural(len(warnings), 'warning')}")
    if run["clock_error"] >= CLOCK_ERROR_MAX:
        lines.append(f"the guest's clock is {100 * run['clock_error']:.1f} % off the model's time")
    return lines


def _moved(run: Mapping[str, Any], way: str) -> int:
    """Return the pages that were moved in a direction, by whomever.

    The timing model knows the moves of folios, and not those of relocatable slabs.
    """
    counted = re.compile(rf"slab/{way}_[a-z]+")
    changed = run["tiering"].get("changed", {})
    slabs: int = sum(pages for name, pages in changed.items() if counted.fullmatch(name))
    folios: int = sum(run["migrated_pages"][way].values())
    return slabs + folios


def _warm_up_note(warm: Mapping[str, Any] | None, cold: bool) -> str:
    """Return the note on a warm-up, empty if the machine had settled.

    `cold`: no warm-up was asked for.
    """
    if cold:
        return "measured cold: there was no warm-up"
    if warm is None:
        return "measured cold: its measured phase cannot be repeated to warm up"
    if warm["settled"]:
        return ""
    count = plural(len(warm["slices"]), "slice")
    if len(warm["slices"]) < SLICES_SETTLED:
        return f"a warm-up of {count} does not show whether it had settled"
    return f"had not settled after a warm-up of {count}"


def _words(counters: Iterable[str]) -> str:
    words = {
        "promoted": "page was promoted",
        "demoted": "page was demoted",
        "hint_faults": "hint fault",
        "monitored": "CPU time of DAMON",
        "paged_out": "page was swapped out",
        "huge_pages": "huge page was made",
    }
    return " and no ".join(words[counter] for counter in counters)


def since_boot(frames: Mapping[str, str]) -> dict[str, int]:
    """Return pages that were swapped out, and huge pages that were made, since the boot."""
    counts = kernel_counts(frames["vmstat_end"])
    huge = ("thp_fault_alloc", "thp_collapse_alloc")
    return {
        "paged_out": counts.get("pswpout", 0),
        "huge_pages": sum(counts.get(name, 0) for name in huge),
    }
