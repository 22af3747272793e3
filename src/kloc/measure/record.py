# SPDX-License-Identifier: GPL-2.0
"""Records: the result of a run, made from the raw output of its machine, with notes.

A record is an entry of "runs" in a result file; docs/results.md describes its keys.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from kloc.base import revision
from kloc.base.columns import by_row
from kloc.machine.job import Job, Raw
from kloc.measure import bound_use, daemon_use, memory_use, movers, run_notes
from kloc.measure.kernel_counts import DEMOTED, kernel_counts
from kloc.measure.policy import Policy
from kloc.measure.workload import FULL, Outcome, Size

HINT_FAULTS = "numa_hint_faults"
HINTED = "numa_pages_migrated"
"""The counter of pages that NUMA balancing moved to the node of the core that used them."""

VMSTAT_KEPT = (
    "numa_hint_faults",
    HINTED,
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

NUMA_BALANCING, LOCALITY = "/proc/sys/kernel/numa_balancing", "1"
"""A setting and the value with which NUMA balancing knows no tiers."""

PROMOTIONS = re.compile(r"/promotion_ns (\d+) (\d+)$", re.M)
"""A bucket of the histogram of promotions: its shortest time, in ns, and how many there were."""

UNKNOWN = "unknown"
"""The kind of all pages of a kernel that does not describe them to the timing model."""

MOVES = ("promoted", "demoted", "moved")
"""The keys of a time series that have moved pages."""

NS_PER_TICK = 10_000_000
"""The unit of /proc/stat."""

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
        "by_core": by_core(job, model),
        "stall_ns": model["stall_ns"],
        "misses": model["misses"],
        "waits_ns": model["waits_ns"],
        "tlb": model["tlb"],
        "storage_wait_ns": storage_wait_ns(raw.frames),
        "idle_ns": sum(core["idle_ns"] for core in by_core(job, model)[: job.profile.cores]),
        "background": kernel_threads(raw.frames, model["migrated_by"]),
        "pages": mean_pages(model) if known else {},
        "migrated_pages": model["migrated"] if known else migrated(job, raw.frames),
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
        "kloc": revision.commit(),
        "idle_before_ns": idle_before_ns(raw.frames, job.profile.workload_cpus()),
    }
    run["moved_by"] = movers.moved_by(run["tiering"], vmstat, model["moved"])
    if promotion := promotion_ns(raw.frames):
        run["promotion_ns"] = promotion
    if "remote_misses" in model:
        run["remote_misses"] = model["remote_misses"]
    if job.parameters:
        run["parameters"] = list(job.parameters)
    if policy.fast_kinds is not None:
        run["placement"] = {"fast": list(policy.fast_kinds)}
    if (memory := memory_use.memory(raw.frames)) is not None:
        run["memory"] = memory
    if (bound := bound_use.bound(raw.frames, policy.bound)) is not None:
        run["bound"] = bound
    if policy.scheme is not None and policy.scheme.runs_for(job.name):
        stats = memory_use.scheme_stats(raw.frames)
        run["scheme"] = {**policy.scheme.as_dict(job.name, job.profile), "stats": stats}
    if policy.daemon is not None:
        run["daemon"] = daemon_use.daemon(raw.frames, policy.daemon, job.profile)
    if slabs := by_row(raw.frames.get("slabs", "")):
        run["slabs"] = slabs
    if "objects" in model:
        run["objects"] = model["objects"]
    if outcome.figures:
        run["figures"] = dict(outcome.figures)
    found = run_notes.notes(policy, run, raw, described(model))
    run["notes"] = [*outcome.notes, *found]
    return run


def by_core(job: Job, model: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return what each core did: the workload's cores first, then the spare ones."""
    own = job.profile.workload_cpus()
    numbers = sorted(range(len(model["cores"])), key=lambda cpu: (cpu not in own, cpu))
    return [model["cores"][cpu] for cpu in numbers]


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


def migrated(job: Job, frames: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the pages that were moved by the kernel's own counters, which know no kinds.

    With one socket, cores are next to fast memory only: what NUMA balancing moves is promoted.
    """
    vmstat, damon = vmstat_change(frames), damon_moves(frames)
    promoted = vmstat[movers.PROMOTED] + damon["promoted"]
    if job.settings.get(NUMA_BALANCING) == LOCALITY and job.profile.sockets == 1:
        promoted += vmstat[HINTED]
    demoted = sum(vmstat[name] for name in DEMOTED) + damon["demoted"]
    return {"promoted": {UNKNOWN: promoted}, "demoted": {UNKNOWN: demoted}}


def damon_moves(frames: Mapping[str, str]) -> dict[str, int]:
    """Return the pages that schemes of DAMON have moved in the region, by direction.

    /proc/vmstat does not count them among promoted and demoted pages.
    """
    begin, end = (kernel_counts(frames.get(f"moves_{at}", "")) for at in ("begin", "end"))
    return {
        way: end.get(f"damon_{way}", 0) - begin.get(f"damon_{way}", 0)
        for way in ("promoted", "demoted")
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


def idle_before_ns(frames: Mapping[str, str], cpus: Collection[int]) -> int:
    """Return for how long these CPUs were idle just before the region, in sum.

    It counts from the end of the last slice of the warm-up; without a warm-up, from the end of the
    load. Exact to 10 ms a core.
    """
    ready, begin = (_idle_ticks(frames[name], cpus) for name in ("stat_ready", "stat_begin"))
    return (begin - ready) * NS_PER_TICK


def _idle_ticks(stat: str, cpus: Collection[int]) -> int:
    """Return how long CPUs were idle since the boot, by the lines of /proc/stat about each."""
    idle = 0
    for line in stat.splitlines():
        name, *ticks = line.split()
        number = name.removeprefix("cpu")
        if number.isdigit() and int(number) in cpus:
            # Idle, and idle while a request to the disk was pending (iowait).
            idle += int(ticks[3]) + int(ticks[4])
    return idle


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
    begin, end = (kernel_counts(frames[name]) for name in ("vmstat_begin", "vmstat_end"))
    return {name: end.get(name, 0) - begin.get(name, 0) for name in VMSTAT_KEPT}


def tiering(frames: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the change of the kernel policy's counts over the region, and their values at its end.

    The names are KIND/COUNT, of the files in /sys/kernel/mm/tiering/stats, and the figures
    `page_bytes`, `knodes` and `knode_bytes`. Empty if the kernel has no policies of memory tiers.
    """
    if "tiering_end" not in frames:
        return {}
    begin, end = (kernel_counts(frames[name]) for name in ("tiering_begin", "tiering_end"))
    changed = {name: value - begin.get(name, 0) for name, value in end.items()}
    return {"changed": {name: value for name, value in changed.items() if value}, "end": end}


def promotion_ns(frames: Mapping[str, str]) -> dict[str, int]:
    """Return how many promotions of hint faults took how long for the task, in the region.

    The keys are the shortest times, in ns, of the buckets of the kernel's histogram in
    /sys/kernel/debug/tiering/promotion_ns.
    """
    begin, end = (
        dict(PROMOTIONS.findall(frames.get(f"tiering_{at}", ""))) for at in ("begin", "end")
    )
    changed = {least: int(count) - int(begin.get(least, 0)) for least, count in end.items()}
    return {least: count for least, count in changed.items() if count}


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
