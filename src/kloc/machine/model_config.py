# SPDX-License-Identifier: GPL-2.0
"""Writes the configuration of the timing model. machine/plugin/config.h lists its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kloc.machine.job import Job, cpu_count
from kloc.machine.memory import FAST_FRAMES, PROGRESS, TIERS, memory_ranges
from kloc.machine.profile import Profile, Tier

LIVE = "live.json"
"""The file in a run's directory that has the totals of the measured region so far."""

SAMPLE_NS = 5_000_000
"""The period of a result's time series, in ns of simulated time."""


def model_config(job: Job, directory: Path, memory: Mapping[str, str]) -> str:
    """Return the text of the timing model's configuration for a run in `directory`.

    `memory` maps the names of SharedMemory's files to their paths.
    """
    profile, cpu, tlb = job.profile, job.profile.cpu, job.profile.tlb
    lines = [
        f"output={directory / 'model.json'}",
        f"pages={directory / 'pages.bin'}",
        f"dump={int(job.frames)}",
        f"observe={int(job.observe)}",
        f"sample_ns={SAMPLE_NS}",
        f"cores={cpu_count(job)}",
        *_socket_lines(profile),
        f"ns_per_instruction={cpu.ns_per_instruction}",
        f"l1_bytes={cpu.l1}",
        f"l1_ways={cpu.l1_ways}",
        f"llc_bytes={cpu.llc}",
        f"llc_ways={cpu.llc_ways}",
        f"llc_ns={cpu.llc_latency_ns}",
        f"snoop_ns={cpu.snoop_latency_ns}",
        f"outstanding={cpu.outstanding}",
        f"window={cpu.window}",
        f"store_buffer={cpu.store_buffer}",
        f"prefetch={cpu.prefetch}",
        f"tlb={tlb.entries},{tlb.ways}",
        f"tlb_huge={tlb.huge_entries},{tlb.huge_ways}",
        f"stlb={tlb.second},{tlb.second_ways}",
        f"stlb_ns={tlb.second_latency_ns}",
        *_tier_lines("fast", profile.fast),
        *_tier_lines("slow", profile.slow),
    ]
    for number, node in enumerate(memory_ranges(profile)):
        line = f"ram={node.tier},{node.start},{node.size},{memory[TIERS[node.tier]]},{node.offset}"
        # Not for one socket: the text is part of a run's inputs.
        lines.append(line + (f",{number % profile.sockets}" if profile.sockets > 1 else ""))
    lines += [f"{name}={memory[name]}" for name in (PROGRESS, FAST_FRAMES) if name in memory]
    if job.follow:
        lines.append(f"live={directory / LIVE}")
    if job.fast_kinds is not None:
        lines.append(f"fast_kinds={','.join(job.fast_kinds)}")
    if job.timing:
        lines.append(f"force_tier={job.timing}")
    return "\n".join(lines) + "\n"


def _socket_lines(profile: Profile) -> list[str]:
    """Return the lines about sockets and the link between them, none for one socket."""
    remote = profile.remote
    if remote is None:
        return []
    return [
        f"sockets={profile.sockets}",
        f"remote={remote.latency_ns},{remote.bandwidth}",
        f"remote_loaded={_curve(remote.loaded)}",
    ]


def _tier_lines(name: str, tier: Tier) -> list[str]:
    return [
        f"tier={name},{tier.read_latency_ns},{tier.read_bandwidth},{tier.write_bandwidth},"
        f"{tier.unit}",
        f"loaded={name},{_curve(tier.loaded)}",
    ]


def _curve(points: Sequence[tuple[float, float]]) -> str:
    return ",".join(f"{utilization}:{factor}" for utilization, factor in points)
