# SPDX-License-Identifier: GPL-2.0
"""Reads what Thermostat, a policy of the running kernel, knows of memory.

debugfs-tiering in kernel/files/Documentation/ABI/testing describes the file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from kloc.base.errors import KlocError
from kloc.server import system, tiering
from kloc.server.system import AS_ROOT, read

POLICY = "thermostat"
POLICIES = (POLICY, "thermostat-kloc")
"""The policies that count regions of memory. What the second one counts by file is not in FILE."""

FILE = "sys/kernel/debug/tiering/thermostat"
SETTINGS = f"{tiering.FOLDER}/thermostat"

REGION_BYTES = 2 << 20
"""The size of a region."""

LISTED = 1024
"""The most regions of a state that the file has for each node."""

SAMPLED, LEAVING, COLD, BACK, JOINING = "sampled", "leaving", "cold", "back", "joining"
"""The states of a region: looked at in this period, on the way to slow memory, in slow memory, on
the way back, and to become a huge page again."""

HOW_TO_SELECT = f"as root: kloc on --policy {POLICY}"

NODE = re.compile(r"node (\d+) regions (\d+) sample (\d+)")
GROUP = re.compile(r"group (\d+) .*\bcold (\d+)")
REGION = re.compile(r"(\w+) ([0-9a-f]+) rate (\d+) accessed (\d+) watched (\d+)")


@dataclass(frozen=True)
class Region:
    """A region of 2 MiB: its address, and the visits of its pages in a second.

    `accessed` is how many of its pages were accessed when that was last looked at.
    """

    state: str
    address: int
    rate: int
    accessed: int

    @property
    def is_counted(self) -> bool:
        """Whether its rate is known: those that this period looks at are counted in its end."""
        return self.state in (LEAVING, COLD, BACK) or (self.state == SAMPLED and self.accessed > 0)


@dataclass(frozen=True)
class State:
    """What the policy knows, of all nodes.

    `fast` is the number of regions in fast memory, `sample` how many of them this period looks at,
    and `cold` the number in slow memory by the last count.
    """

    fast: int
    sample: int
    cold: int
    regions: tuple[Region, ...]


def check() -> None:
    """Raise KlocError unless the running kernel has selected one of POLICIES."""
    tiering.check_kernel()
    if POLICY not in tiering.names():
        raise KlocError(
            f"this kernel has no policy {POLICY}",
            "boot a newer kernel of kloc, with CONFIG_NUMA_BALANCING=y",
        )
    if (now := tiering.selected()) not in POLICIES:
        raise KlocError(
            f"the selected policy is {now}, and only {' and '.join(POLICIES)} count how often "
            "memory is visited",
            f"select it, and let it count for some periods; {HOW_TO_SELECT}",
        )


def read_state() -> State:
    """Return what the policy knows now. Raises KlocError if it cannot be read, or knows nothing."""
    check()
    try:
        text = (system.ROOT / FILE).read_text()
    except PermissionError as error:
        raise KlocError(f"only root may read /{FILE}", AS_ROOT) from error
    except FileNotFoundError as error:
        raise tiering.missing_in_debugfs(FILE) from error
    nodes = [tuple(map(int, found)) for found in NODE.findall(text)]
    if not nodes:
        raise KlocError(
            f"/{FILE} names no node with fast memory",
            "memory must have two tiers: ls -d /sys/devices/virtual/memory_tiering/memory_tier*",
        )
    return State(
        fast=sum(regions for _, regions, _ in nodes),
        sample=sum(sample for _, _, sample in nodes),
        cold=sum(int(cold) for _, cold in GROUP.findall(text)),
        regions=tuple(
            Region(state, int(address, 16), int(rate), int(accessed))
            for state, address, rate, accessed, _ in REGION.findall(text)
        ),
    )


def read_visit_ns() -> int:
    """Return the cost of a visit of slow memory in ns, as the policy has it."""
    value = read(f"{SETTINGS}/visit_ns")
    if value is None:
        raise KlocError(f"/{SETTINGS}/visit_ns cannot be read", AS_ROOT)
    return int(value)


def read_processor_ns() -> int:
    """Return the processor time that was used since boot on all CPUs, in ns, exact to 10 ms.

    It is what the policy takes its share of: time in user and kernel mode, without interrupts.
    """
    ticks = (read("proc/stat") or "cpu 0 0 0").split()[1:4]
    return sum(int(tick) for tick in ticks) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
