# SPDX-License-Identifier: GPL-2.0
"""Records: the result of a run, made from the raw output of its machine, with notes.

A record is an entry of "runs" in a result file; docs/results.md describes its keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from kloc.base.words import plural
from kloc.machine import guest_console
from kloc.machine.job import Job, Raw
from kloc.measure.policy import Policy
from kloc.measure.workload import FULL, Outcome, Size

HINT_FAULTS = "numa_hint_faults"
VMSTAT_KEPT = (
    "numa_hint_faults",
    "numa_pages_migrated",
    "pgpromote_success",
    "pgpromote_candidate",
    "pgdemote_kswapd",
    "pgdemote_direct",
    "pgdemote_khugepaged",
    "pgmigrate_success",
    "pgmigrate_fail",
    "pgsteal_kswapd",
    "pgsteal_direct",
    "pgsteal_khugepaged",
    "workingset_refault_anon",
    "workingset_refault_file",
)
"""Counters of /proc/vmstat whose change over the measured region is recorded."""

EVICTED = ("pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged")
DEMOTED = ("pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged")
"""Counters of reclaimed pages, which include demoted ones, and of demoted pages.

The difference is evicted to storage. A bound with evictions is invalid.
"""

PROMOTED = "pgpromote_success"
"""The counter of promoted pages."""

UNKNOWN = "unknown"
"""The kind of all pages of a kernel that does not describe them to the timing model."""

MOVES = ("promoted", "demoted", "moved")
"""The keys of a time series that have moved pages."""

UNDESCRIBED = (
    "a kernel without kloc's driver: kinds of pages are unknown, and moved pages are those of "
    "/proc/vmstat"
)
"""The note on a kernel that does not describe its pages and moves."""

ONE_TIER = (
    "the kernel has fast and slow memory in one tier, and so demotes and promotes nothing; "
    "Linux 6.7 and later with CONFIG_ACPI_HMAT knows the tiers"
)
"""The note on a kernel that does not tell the tiers apart."""

NS_PER_TICK = 10_000_000
"""The unit of /proc/stat."""

SLICES_SETTLED = 8
"""So many slices show whether the machine has settled (machine/guest/settled.awk)."""

CLOCK_ERROR_MAX = 0.01
"""A larger difference of the guest's clock from simulated time is noted."""

Run = dict[str, Any]
"""A record."""

Identity = tuple[str, str, str, str]
"""Workload, policy, seed and variant of a run."""


def from_raw(
    job: Job, policy: Policy, outcome: Outcome, raw: Raw, size: Size = FULL, cold: bool = False
) -> Run:
    """Return the record of a finished run.

    `size` is that of the workload. `cold`: no warm-up was asked for.
    """
    model = raw.model
    seconds = model["time_ns"] / 1e9
    vmstat = vmstat_change(raw.frames)
    known = described(model)
    run: Run = {
        "workload": job.name,
        "policy": policy.name,
        "settings": dict(job.settings),
        "machine": machine_summary(job),
        "seed": job.seed,
        "size": asdict(size),
        "cold": cold,
        "cores": job.profile.cores,
        "spare_cores": job.profile.spare_cores,
        "operations": outcome.operations,
        "seconds": seconds,
        "throughput": outcome.operations / seconds,
        "latency_ns": dict(outcome.latency_ns) if outcome.latency_ns else None,
        "instructions": dict(model["instructions"]),
        "by_core": list(model["cores"]),
        "stall_ns": model["stall_ns"],
        "misses": model["misses"],
        "waits_ns": model["waits_ns"],
        "tlb": model["tlb"],
        "storage_wait_ns": storage_wait_ns(raw.frames),
        "idle_ns": sum(core["idle_ns"] for core in model["cores"][: job.profile.cores]),
        "background": kernel_threads(raw.frames, model["migrated_by"]),
        "pages": mean_pages(model) if known else {},
        "migrated_pages": model["migrated"] if known else migrated(vmstat),
        "moved_pages": model["moved"],
        "traffic_bytes": model["traffic_bytes"],
        "unserved_ns": model["unserved_ns"],
        "series": series(model["series"], known),
        "warm_up": warm_up(raw),
        "hint_faults": vmstat[HINT_FAULTS],
        "vmstat": vmstat,
        "tiering": tiering(raw.frames),
        "clock_error": clock_error(model),
        "inputs": dict(raw.inputs),
        "notes": [],
    }
    if policy.fast_kinds is not None:
        run["placement"] = {"fast": list(policy.fast_kinds)}
    if "objects" in model:
        run["objects"] = model["objects"]
    if outcome.figures:
        run["figures"] = dict(outcome.figures)
    run["notes"] = [*outcome.notes, *notes(policy, run, raw)]
    return run


def identity(run: Run) -> Identity:
    """Return what tells a run from the others of a document."""
    return (
        run["workload"],
        run["policy"],
        str(run["seed"]),
        run["machine"].get("variant") or "",
    )


def described(model: Mapping[str, Any]) -> bool:
    """Return whether the kernel has described its pages and moves to the timing model.

    Kernels that this project did not build cannot.
    """
    return bool(model.get("layout_known", True))


def migrated(vmstat: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the pages that were moved by the kernel's own counters, which know no kinds."""
    return {
        "promoted": {UNKNOWN: vmstat[PROMOTED]},
        "demoted": {UNKNOWN: sum(vmstat[name] for name in DEMOTED)},
    }


def warm_up(raw: Raw) -> dict[str, Any] | None:
    """Return the duration of the warm-up, its time series and slices; None if there was none.

    A slice has its duration in simulated time and the pages that the kernel moved.
    """
    if raw.warm_up is None:
        return None
    known = described(raw.model)
    slices = [
        [int(word) for word in line.split()] for line in raw.frames["warm_slices"].splitlines()
    ]
    return {
        "seconds": raw.warm_up["time_ns"] / 1e9,
        "slices": [{"time_ns": time_ns, "moved_pages": moved} for _, time_ns, moved in slices],
        "settled": raw.frames.get("settled") == "yes",
        **({"migrated_pages": raw.warm_up["migrated"]} if known else {}),
        "series": series(raw.warm_up["series"], known),
    }


def kernel_threads(
    frames: Mapping[str, str], migrated_by: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """Return what kernel threads did in the region: time that they ran, and pages they migrated.

    Threads that did neither are left out.
    """
    begin, end = (_thread_times(frames[name]) for name in ("kthreads_begin", "kthreads_end"))
    threads = {
        name: {"time_ns": time - begin.get(name, 0), "migrated": migrated_by.get(name, 0)}
        for name, time in end.items()
    }
    return {name: figures for name, figures in threads.items() if any(figures.values())}


def _thread_times(text: str) -> dict[str, int]:
    times: dict[str, int] = {}
    for line in text.splitlines():
        name, _, time_ns = line.rpartition(" ")
        times[name] = times.get(name, 0) + int(time_ns)
    return times


def storage_wait_ns(frames: Mapping[str, str]) -> int:
    """Return for how long cores were idle with I/O of their tasks pending (iowait), in sum."""
    begin, end = (int(frames[name].split()[5]) for name in ("stat_begin", "stat_end"))
    return (end - begin) * NS_PER_TICK


def machine_summary(job: Job) -> dict[str, Any]:
    """Return name, variant, capacities and slow bandwidth of a job's machine.

    Capacities are in bytes, `slow_bandwidth` is in bytes per ns (GB/s).
    """
    slow = job.profile.slow
    return {
        "name": job.profile.name,
        "variant": job.profile.variant,
        "slow_bandwidth": {"read": slow.read_bandwidth, "write": slow.write_bandwidth},
        "fast_bytes": job.profile.fast.capacity,
        "slow_bytes": job.profile.slow.capacity,
    }


def vmstat_change(frames: Mapping[str, str]) -> dict[str, int]:
    """Return the change of the kernel's counters over the measured region."""
    begin, end = (_vmstat(frames[name]) for name in ("vmstat_begin", "vmstat_end"))
    return {name: end.get(name, 0) - begin.get(name, 0) for name in VMSTAT_KEPT}


def tiering(frames: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the change of the kernel policy's counts over the region, and their values at its end.

    The names are KIND/COUNT, of the files in /sys/kernel/mm/tiering/stats, and the figures
    `page_bytes`, `knodes` and `knode_bytes`. Empty if the kernel has no policies of memory tiers.
    """
    if "tiering_end" not in frames:
        return {}
    begin, end = (_vmstat(frames[name]) for name in ("tiering_begin", "tiering_end"))
    changed = {name: value - begin.get(name, 0) for name, value in end.items()}
    return {"changed": {name: value for name, value in changed.items() if value}, "end": end}


def clock_error(model: Mapping[str, Any]) -> float:
    """Return the guest clock's difference from simulated time, as a fraction of the latter."""
    error: float = abs(model["monotonic_ns"] - model["time_ns"]) / max(1, model["time_ns"])
    return error


def mean_pages(model: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the pages of each tier by kind, as the mean of the region's samples.

    The pages at the end of the region would show little: the program has exited and freed its own.
    Without samples, these are returned.
    """
    samples: Mapping[str, Mapping[str, list[int]]] = model["series"].get("pages", {})
    if not model["series"].get("t_ns"):
        return {tier: dict(kinds) for tier, kinds in model["pages"].items()}
    return {
        tier: {kind: round(sum(counts) / len(counts)) for kind, counts in kinds.items()}
        for tier, kinds in samples.items()
    }


def series(raw: Mapping[str, Any], known: bool = True) -> dict[str, Any]:
    """Return the time series, with a separate key for the pages of each tier.

    Pages and moves are left out if the kernel has not described itself (see `described`).
    """
    unknown = () if known else MOVES
    result = {key: value for key, value in raw.items() if key not in ("pages", *unknown)}
    for tier, kinds in raw.get("pages", {}).items() if known else ():
        result[f"pages_{tier}"] = kinds
    return result


def notes(policy: Policy, run: Run, raw: Raw) -> list[str]:
    """Return the notes of a run: warm-up, another kernel, an idle policy, evictions and so on."""
    lines = [note] if (note := _warm_up_note(run["warm_up"], run["cold"])) else []
    if not described(raw.model):
        lines.append(UNDESCRIBED)
    if raw.frames.get("tiers") == "1":
        lines.append(ONE_TIER)
    if absent := raw.frames.get("absent", "").split():
        lines.append(f"not set, because the kernel does not have it: {', '.join(absent)}")
    counted = {
        "promoted": sum(run["migrated_pages"]["promoted"].values()),
        "demoted": sum(run["migrated_pages"]["demoted"].values()),
        "hint_faults": run["hint_faults"],
    }
    idle = [counter for counter in policy.expect if not counted[counter]]
    if policy.expect and len(idle) == len(policy.expect):
        lines.append(f"{policy.name} did nothing here: no {_words(idle)}")
    elif idle:
        lines.append(f"no {_words(idle)}")
    # The kernel counts demoted pages as reclaimed, too.
    evicted = sum(run["vmstat"][name] for name in EVICTED)
    evicted -= sum(run["vmstat"][name] for name in DEMOTED)
    if evicted > 0:
        lines.append(f"{evicted} pages were evicted to storage")
    # The kernel's log is more complete than the console, which omits minor messages.
    warnings = guest_console.WARNING.findall(raw.frames.get("kernel", raw.console))
    if warnings:
        lines.append(f"the guest's kernel printed {len(warnings)} warnings")
    if run["clock_error"] >= CLOCK_ERROR_MAX:
        lines.append(f"the guest's clock is {100 * run['clock_error']:.1f} % off the model's time")
    return lines


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
    }
    return " and no ".join(words[counter] for counter in counters)


def _vmstat(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"^([\w/]+) (\d+)$", text, re.M)}
