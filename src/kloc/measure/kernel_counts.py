# SPDX-License-Identifier: GPL-2.0
"""The kernel's counters in the agent's frames."""

from __future__ import annotations

import re

DEMOTED = ("pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged")
"""Counters of demoted pages."""


def kernel_counts(text: str) -> dict[str, int]:
    """Return the counters in lines "NAME VALUE", such as those of /proc/vmstat."""
    return {name: int(value) for name, value in re.findall(r"^([\w/]+) (\d+)$", text, re.M)}
