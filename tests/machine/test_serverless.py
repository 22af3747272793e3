# SPDX-License-Identifier: GPL-2.0
"""An idle service in the machine: what it does not touch is reclaimed, and comes back."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from support.in_machine import kloc_run

pytestmark = pytest.mark.machine

SEEDS = {"baseline": 1, "idle-zram": 3}
"""With one seed of some kernels, DAMON does not find the idle memory in 6 s (docs/tuning.md)."""

Figures = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """The figures of the service by policy: medians over the seeds."""
    directory = tmp_path_factory.mktemp("serverless")
    return {name: measured(directory, name) for name in SEEDS}


def measured(directory: Path, name: str) -> dict[str, float]:
    path = directory / f"{name}.json"
    kloc_run("--policy", name, "--seeds", SEEDS[name], "--json", path, "serverless")
    found = [run["figures"] for run in json.loads(path.read_text())["runs"]]
    return {key: statistics.median(figures[key] for figures in found) for key in found[0]}


def resident(figures: dict[str, float], seconds: str) -> float:
    return figures[f"RSS at {seconds} s, MiB"]


def test_nothing_is_reclaimed_without_a_scheme(figures: Figures) -> None:
    assert resident(figures["baseline"], "6") == resident(figures["baseline"], "0")


def test_what_an_idle_service_does_not_touch_is_reclaimed_after_30_s(
    figures: Figures,
) -> None:
    idle = figures["idle-zram"]
    assert resident(idle, "0") == pytest.approx(resident(figures["baseline"], "0"), rel=0.05)
    # 0.7 s on this machine. A tenth is in use, and stays.
    assert 0.1 * resident(idle, "0") < resident(idle, "1.5") < 0.2 * resident(idle, "0")
    assert 0.1 * resident(idle, "0") < resident(idle, "6") < 0.2 * resident(idle, "0")


def test_the_first_request_waits_for_what_was_reclaimed(
    figures: Figures,
) -> None:
    first = {name: found["first request, us"] for name, found in figures.items()}
    assert first["idle-zram"] > 2 * first["baseline"]
