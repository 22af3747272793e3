# SPDX-License-Identifier: GPL-2.0
"""Jobs for the tests of kloc.machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kloc.machine import profile
from kloc.machine.job import Job


@pytest.fixture
def make_job() -> Callable[..., Job]:
    """A function that returns a job of the machine `tiered`, with the given changes."""
    tiered = profile.read("tiered")

    def make(**changes: Any) -> Job:
        return Job(**{"name": "w", "profile": tiered, "scripts": {}, **changes})

    return make
