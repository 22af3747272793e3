# SPDX-License-Identifier: GPL-2.0
"""Print how long each region took, and how much of its time the kernel had.

    ./kloc run redis --policy all-fast --json redis.json
    python3 tools/region_shares.py redis.json...

Time is that of the workload's cores. The kernel's share is of the time that they were busy: its
instructions, by the machine's time for one, and its stalls. Stalls of spare cores are the kernel's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each run in the files that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    for path in parser.parse_args(arguments).files:
        document = json.loads(path.read_text())
        per_instruction = document["machine"]["cpu"]["ns_per_instruction"]
        for run in document["runs"]:
            kernel, idle = shares(run, per_instruction)
            print(
                f"{run['workload']} {run['policy']} seed {run['seed']}: {run['seconds']:.3f} s, "
                f"{run['throughput']:,.0f} operations/s, kernel {100 * kernel:.0f} % of busy time, "
                f"idle {100 * idle:.0f} %"
            )


def shares(run: Mapping[str, Any], ns_per_instruction: float) -> tuple[float, float]:
    """Return the kernel's share of busy time, and the idle share of all time."""
    total = run["cores"] * run["seconds"] * 1e9
    own, spare = run["by_core"][: run["cores"]], run["by_core"][run["cores"] :]
    stalls = sum(
        modes.get("kernel", 0) for kinds in run["stall_ns"].values() for modes in kinds.values()
    ) - sum(core["stall_ns"] for core in spare)
    instructions = sum(core["kernel"] for core in own)
    busy = total - run["idle_ns"]
    return (instructions * ns_per_instruction + stalls) / busy, run["idle_ns"] / total


if __name__ == "__main__":
    main()
