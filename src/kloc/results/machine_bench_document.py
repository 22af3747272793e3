# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc bench machine`; docs/machine.md describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kloc.base import revision
from kloc.measure.machine_bench.published import SOURCES
from kloc.measure.machine_bench.runner import Compared, Measured
from kloc.results import schema


def assemble(machines: Sequence[Measured]) -> dict[str, Any]:
    """Return the document of the known answers of these machines, which have the same parts."""
    parts = machines[0].parts
    return {
        "schema": schema.SCHEMA,
        "kloc": revision.commit(),
        "kernel": parts.kernel.described(),
        "versions": {
            **parts.root.versions(),
            "qemu": parts.qemu.version,
            "plugin": parts.plugin.parent.name,
            "programs": {path.name: path.parent.name for path in parts.programs},
        },
        "machines": [
            {
                "machine": machine.profile.as_dict(),
                "answers": {one.answer.name: _answer(one) for one in machine.compared},
            }
            for machine in machines
        ],
    }


def _answer(one: Compared) -> dict[str, Any]:
    return {
        "unit": one.answer.unit,
        "model": one.model,
        "expected": one.expected,
        "deviation": one.deviation,
        "tolerance": one.answer.tolerance,
        "published": [
            {"value": value, "source": SOURCES[figure.source]} for figure, value in one.published
        ],
    }
