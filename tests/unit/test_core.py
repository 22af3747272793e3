# SPDX-License-Identifier: GPL-2.0
"""Each machine gets a core of the host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kloc import core


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A host of which this process may use two cores, and nobody has one yet."""
    monkeypatch.setenv("KLOC_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})


def test_two_machines_have_two_cores() -> None:
    with core.held() as one, core.held() as other:
        assert (one, other) == (3, 5)


def test_a_core_is_given_back() -> None:
    with core.held() as first, core.held():
        pass
    with core.held() as again:
        assert again == first


def test_a_third_machine_shares_one() -> None:
    with core.held(), core.held(), core.held() as third:
        assert third in {3, 5}
