# SPDX-License-Identifier: GPL-2.0
"""Writes the configuration of the timing model. machine/plugin/config.h lists its keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kloc.machine.job import Job
from kloc.machine.memory import TIERS, memory_ranges
from kloc.machine.profile import Tier

LIVE = "live.json"
"""The file in a run's directory that has the totals of the measured region so far."""

SAMPLE_NS = 5_000_000
"""The period of a result's time series, in ns of simulated time."""


def model_config(job: Job, directory: Path, memory: Mapping[str, str]) -> str:
    """Return the text of the timing model's configuration for a run in `directory`.

    `memory` maps fast, slow and page to the files that back them.
    """
    profile, cpu = job.profile, job.profile.cpu
    lines = [
        f"page={memory['page']}",
        f"output={directory / 'model.json'}",
        f"pages={directory / 'pages.bin'}",
        f"dump={int(job.frames)}",
        f"observe={int(job.observe)}",
        f"ns_per_instruction={cpu.ns_per_instruction}",
        f"l1_bytes={cpu.l1}",
        f"l1_ways={cpu.l1_ways}",
        f"llc_bytes={cpu.llc}",
        f"llc_ways={cpu.llc_ways}",
        f"store_stall={cpu.store_stall}",
        f"background={profile.background}",
        f"sample_ns={SAMPLE_NS}",
        _tier_line("fast", profile.fast),
        _tier_line("slow", profile.slow),
    ]
    lines += [
        f"ram={tier},{start},{size},{memory[TIERS[tier]]},0"
        for tier, start, size in memory_ranges(profile)
    ]
    if job.follow:
        lines.append(f"live={directory / LIVE}")
    if job.fast_kinds is not None:
        lines.append(f"fast_kinds={','.join(job.fast_kinds)}")
    if job.timing:
        lines.append(f"force_tier={job.timing}")
    return "\n".join(lines) + "\n"


def _tier_line(name: str, tier: Tier) -> str:
    return (
        f"tier={name},{tier.read_latency_ns},{tier.write_latency_ns},"
        f"{tier.read_bandwidth},{tier.write_bandwidth},{tier.unit}"
    )
