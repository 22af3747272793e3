# SPDX-License-Identifier: GPL-2.0
"""tools/region_shares.py prints the kernel's share of a region, without that of spare cores."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kloc.base.paths import PROJECT

# Of 2 s of two cores half a second is idle; of the rest the kernel has 0.25 s of instructions and
# 0.35 s of stalls. A spare core stalled for 0.1 s more.
RUN = {
    "workload": "redis",
    "policy": "all-fast",
    "seed": 3,
    "seconds": 1.0,
    "throughput": 1234.0,
    "cores": 2,
    "idle_ns": 5e8,
    "by_core": [
        {"kernel": 6e8, "stall_ns": 4e8},
        {"kernel": 4e8, "stall_ns": 4e8},
        {"kernel": 9e9, "stall_ns": 1e8},
    ],
    "stall_ns": {
        "fast": {"anon": {"user": 4.5e8, "kernel": 2e8}},
        "slow": {"file": {"kernel": 2.5e8}},
    },
}


def test_shares_are_of_the_workload_s_cores(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"machine": {"cpu": {"ns_per_instruction": 0.25}}, "runs": [RUN]}))
    tool = [sys.executable, str(PROJECT / "tools" / "region_shares.py"), str(file)]
    assert subprocess.run(tool, check=True, capture_output=True, text=True).stdout == (
        "redis all-fast seed 3: 1.000 s, 1,234 operations/s, kernel 40 % of busy time, idle 25 %\n"
    )
