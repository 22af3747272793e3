# SPDX-License-Identifier: GPL-2.0
"""Made-up known answers of `kloc bench machine`, for tests of its tables and documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from kloc.build.kernel import Kernel
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure.machine_bench import answers, runner

PARTS = cast(
    Parts,
    SimpleNamespace(
        kernel=Kernel(Path("bzImage"), Path("vmlinux"), Path("config"), "6.12", "abc"),
        root=SimpleNamespace(versions=lambda: {"qemu": "Debian's"}),
        qemu=SimpleNamespace(version="1"),
        plugin=Path("/cache/plugin/123/model.so"),
        programs=(Path("/cache/program/456/known_tlb"),),
    ),
)


def machine(name: str = "made-up", **changes: Any) -> profile.Profile:
    """Return a machine with round figures, with changes by key."""
    base = profile.read(profile.DEFAULT)
    tiers = {
        "fast": replace(
            base.fast,
            read_latency_ns=80,
            read_bandwidth=32,
            write_bandwidth=32,
            unit=64,
            loaded=((0.0, 1.0), (0.5, 1.0), (1.0, 4.0)),
        ),
        "slow": replace(
            base.slow,
            read_latency_ns=200,
            read_bandwidth=16,
            write_bandwidth=8,
            unit=256,
            loaded=((0.0, 1.0), (1.0, 1.0)),
        ),
    }
    return replace(base, **{"name": name, "cores": 4, **tiers, **changes})


def exact(groups: Sequence[answers.Group], host: profile.Profile) -> dict[str, float]:
    """Return answers that are what the profile says; those about which it says nothing are 1."""
    values: dict[str, float] = {}
    for answer in answers.expected_answers(groups, host):
        values[answer.name] = answer.expected(host, values) if answer.expected else 1.0
    return values


def measured(
    host: profile.Profile, groups: Sequence[answers.Group], **changed: float
) -> runner.Measured:
    """Return a machine whose answers are exact but for some, whose names have _ in place of dots.

    Those are multiplied by the given factors.
    """
    values = exact(groups, host)
    for name, factor in changed.items():
        values[name.replace("_", ".")] *= factor
    return runner.Measured(host, PARTS, runner.compare(host, groups, values))
