# SPDX-License-Identifier: GPL-2.0
"""The two-tier machine: the one place that starts QEMU, watches it and reads what it leaves.

A Job says what runs in it. `Machine` starts it and is stepped until it is done,
so that one process can watch several machines; `run` does so for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kloc.machine.job import Job
from kloc.machine.memory import TIERS, memory_ranges
from kloc.machine.profile import Tier

# In a run's folder: what the model writes while the region is in progress.
LIVE = "live.json"
# How often the model samples the pages for a result's time series.
SAMPLE_NS = 5_000_000


def model_config(job: Job, folder: Path, memory: Mapping[str, str]) -> str:
    """Return the timing model's configuration (machine/plugin/config.c has its keys)."""
    cpu, profile = job.profile.cpu, job.profile
    lines = [
        f"page={memory['page']}",
        f"output={folder / 'model.json'}",
        f"pages={folder / 'pages.bin'}",
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
        lines.append(f"live={folder / LIVE}")
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
