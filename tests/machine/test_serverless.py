# SPDX-License-Identifier: GPL-2.0
"""An idle service in the machine: what it does not touch is reclaimed, and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The figures of the service by policy."""
    directory = tmp_path_factory.mktemp("serverless")
    return {name: measured(directory, name) for name in ("baseline", "idle-zram")}


def measured(directory: Path, name: str) -> dict[str, Any]:
    path = directory / f"{name}.json"
    kloc_run("--policy", name, "--json", path, "serverless")
    figures: dict[str, Any] = read_run(path)["figures"]
    return figures


def resident(figures: dict[str, Any], seconds: str) -> float:
    return float(figures[f"RSS at {seconds} s, MiB"])


def test_nothing_is_reclaimed_without_a_scheme(figures: dict[str, dict[str, Any]]) -> None:
    assert resident(figures["baseline"], "6") == resident(figures["baseline"], "0")


def test_what_an_idle_service_does_not_touch_is_reclaimed_after_30_s(
    figures: dict[str, dict[str, Any]],
) -> None:
    idle = figures["idle-zram"]
    assert resident(idle, "0") == pytest.approx(resident(figures["baseline"], "0"), rel=0.05)
    # 0.7 s on this machine. A tenth is in use, and stays.
    assert 0.1 * resident(idle, "0") < resident(idle, "1.5") < 0.2 * resident(idle, "0")
    assert 0.1 * resident(idle, "0") < resident(idle, "6") < 0.2 * resident(idle, "0")


def test_the_first_request_waits_for_what_was_reclaimed(
    figures: dict[str, dict[str, Any]],
) -> None:
    first = {name: found["first request, us"] for name, found in figures.items()}
    assert first["idle-zram"] > 2 * first["baseline"]
