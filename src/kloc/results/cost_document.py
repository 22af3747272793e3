# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc bench cost`; docs/results.md describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kloc.base import revision
from kloc.build import root
from kloc.measure.cost.parser import Group
from kloc.measure.cost.runner import Measured
from kloc.results import schema


def assemble(kernels: Sequence[Measured]) -> dict[str, Any]:
    """Return the document of these kernels' measurements."""
    return {
        "schema": schema.SCHEMA,
        "kloc": revision.commit(),
        "versions": root.tool_root().versions(),
        "kernels": [
            {
                "name": kernel.column.name,
                "summary": kernel.column.summary,
                "variant": kernel.column.variant,
                "settings": dict(kernel.column.settings),
                "parameters": list(kernel.column.parameters),
                "release": kernel.built.release,
                "series": kernel.built.series,
                "groups": [_group(group) for group in kernel.groups],
                "memory": asdict(kernel.memory) if kernel.memory else None,
            }
            for kernel in kernels
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "rounds": group.rounds,
        "instructions": group.instructions,
        "lines": group.lines,
        "calls": {
            call.name: {"instructions": call.instructions, "lines": call.lines}
            for call in group.calls
        },
    }
