# SPDX-License-Identifier: GPL-2.0
"""The result document of a native comparison (docs/results.md, "Native comparisons")."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from kloc.native import host, programs
from kloc.native.comparison import Comparison
from kloc.native.trial import Run
from kloc.results.schema import SCHEMA
from kloc.server.control import State
from kloc.server.system import read


def assemble(
    comparison: Comparison, before: State, left_out: Mapping[str, str], runs: Sequence[Run]
) -> dict[str, Any]:
    """Return the document of these runs. `left_out` are default policies, with the reason."""
    kernel = os.uname()
    workloads = [one.workload for one in comparison.subjects if one.workload]
    return {
        "schema": SCHEMA,
        "kernel": {
            "release": kernel.release,
            "version": kernel.version,
            "parameters": read("proc/cmdline") or "",
        },
        "versions": {"packages": programs.versions(programs.packages(workloads))},
        "machine": {"name": host.name()},
        "native": {
            **host.describe(),
            "rounds": comparison.rounds,
            "order": comparison.seed,
            "kloc_was": before.record.policy if before.record else None,
            "left_out": dict(left_out),
        },
        "runs": list(runs),
    }
