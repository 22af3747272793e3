# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc bench speed`; docs/results.md describes it."""

from __future__ import annotations

from typing import Any

from kloc.base import revision
from kloc.measure import speed
from kloc.measure.speed import Speed
from kloc.results import schema


def assemble(measured: Speed) -> dict[str, Any]:
    """Return the document of a host's speed."""
    parts = measured.parts
    return {
        "schema": schema.SCHEMA,
        "kloc": revision.commit(),
        "kernel": parts.kernel.described(),
        "versions": {
            **parts.root.versions(),
            "qemu": parts.qemu.version,
            "plugin": parts.plugin.parent.name,
        },
        "cpu": measured.cpu,
        "workload": speed.WORKLOAD,
        "policy": speed.POLICY,
        "seed": speed.SEED,
        "phases": {
            name: {
                "instructions": phase.instructions,
                "cpu_seconds": phase.cpu_seconds,
                "instructions_per_cpu_second": phase.rate,
            }
            for name, phase in measured.phases.items()
        },
    }
