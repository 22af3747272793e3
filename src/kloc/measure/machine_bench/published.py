# SPDX-License-Identifier: GPL-2.0
"""Published figures of real memory, which `kloc bench machine` prints beside the model's.

A figure is of the hardware that its source names, not of the machine that the profile describes:
the deviation shows how representative the profile is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A published figure for a known answer, with the name of its source in SOURCES.

    With `times`, the figure is a multiple of the machine's own answer of that name.
    """

    answer: str
    value: float
    source: str
    times: str | None = None


SOURCES: Mapping[str, str] = {
    "Mess DRAM": "Mess, local DRAM of a Skylake server with six channels: 66 ns idle, 98 at 75 "
    "GB/s, 131 at 94, of 98",
    "Mess remote": "Mess, DRAM of the other socket of that server: 134 ns idle",
    "Mess CXL": "Mess, a CXL expander: 107 ns idle, 149 at 40 GB/s, of 42.8",
    "fill buffers": "Intel cores have about ten line fill buffers: 66 ns / 10",
    "Vistara": "Vistara's servers (Turin): DRAM of about 130 ns, CXL memory of 250 ns",
    "Melody": "Melody (ASPLOS 2025): CXL devices of 140 to 410 ns",
    "CXL-DMSim": "CXL-DMSim, an ASIC: 2.18 times the latency and 82 % of the bandwidth of DRAM",
    "Optane": "Yang et al. (FAST 2020): 305 ns for a random read, 6.6 GB/s a module; two modules",
}

DRAM = (
    Published("fast.idle", 66, "Mess DRAM"),
    Published("fast.idle", 130, "Vistara"),
    Published("fast.loaded.77", 98, "Mess DRAM"),
    Published("fast.loaded.96", 131, "Mess DRAM"),
    Published("fast.chases.16", 6.6, "fill buffers"),
    Published("fast.sum", 6.6, "fill buffers"),
)
"""Fast memory is local DRAM in all profiles."""

CXL = (
    Published("slow.idle", 107, "Mess CXL"),
    Published("slow.idle", 250, "Vistara"),
    Published("slow.idle", 140, "Melody"),
    Published("slow.idle", 410, "Melody"),
    Published("slow.idle", 2.18, "CXL-DMSim", times="fast.idle"),
    Published("slow.loaded.93", 149, "Mess CXL"),
    Published("slow.read.all", 0.82, "CXL-DMSim", times="fast.read.all"),
)

OPTANE = (
    Published("slow.idle", 305, "Optane"),
    Published("slow.read.all", 13.2, "Optane"),
)

REMOTE = (Published("sockets.remote.fast.idle", 134, "Mess remote"),)

SLOW: Mapping[str, tuple[Published, ...]] = {
    "cxl": CXL,
    "four-node": (*OPTANE, *REMOTE),
    "optane": OPTANE,
}
"""The figures of memory that is not local DRAM by profile. Others' slow memory is no device's."""


def figures(profile: str, answer: str) -> list[Published]:
    """Return the published figures for an answer of a profile, both by name."""
    return [one for one in (*DRAM, *SLOW.get(profile, ())) if one.answer == answer]
