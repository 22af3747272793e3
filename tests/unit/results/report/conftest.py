# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the tests of reports."""

from __future__ import annotations

from typing import TextIO

import pytest
from matplotlib.figure import Figure

BLANK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>'


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the drawings of figures blank, because they take most of the time."""

    def save(_: Figure, buffer: TextIO, **__: object) -> None:
        buffer.write(BLANK)

    monkeypatch.setattr(Figure, "savefig", save)
