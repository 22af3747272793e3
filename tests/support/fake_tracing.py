# SPDX-License-Identifier: GPL-2.0
"""A made-up tracefs, to which a test writes what the kernel would have traced."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kloc.heat import tracing

FILES = ("buffer_size_kb", "trace_clock", "trace_pipe", f"{tracing.EVENT}/enable")


class FakeTracing:
    """tracefs below `root`; `made` and `removed` are the instances that kloc made and removed."""

    def __init__(self, root: Path) -> None:
        self.folder = root / tracing.PLACES[0].lstrip("/")
        self.instance = self.folder / "instances" / tracing.NAME
        self.settings: dict[str, str] = {}
        self.made = self.removed = 0
        (self.folder / "instances").mkdir(parents=True)
        (self.folder / tracing.EVENT).mkdir(parents=True)

    def make(self, instance: Path) -> None:
        """Create an instance with its files."""
        instance.mkdir()
        for name in FILES:
            (instance / name).parent.mkdir(parents=True, exist_ok=True)
            (instance / name).touch()
        self.made += 1

    def remove(self, instance: Path) -> None:
        """Remove an instance; keep what was set in it."""
        names = [name for name in FILES if (instance / name).is_file()]
        self.settings = {name: (instance / name).read_text() for name in names}
        # Raises FileNotFoundError, as the kernel does.
        shutil.rmtree(instance)
        self.removed += 1

    def trace(self, text: str) -> None:
        """Let the kernel trace this."""
        with (self.instance / "trace_pipe").open("a") as file:
            file.write(text)


def install(monkeypatch: Any, root: Path) -> FakeTracing:
    """Let kloc use a made-up tracefs below `root`, the root of a made-up DAMON."""
    fake = FakeTracing(root)
    monkeypatch.setattr(tracing, "make", fake.make)
    monkeypatch.setattr(tracing, "remove", fake.remove)
    return fake


def lines(
    time: float, regions: Iterable[tuple[int, int, int]], target: int = 0, count: int | None = None
) -> str:
    """Return the lines of a snapshot: start, end and accesses of each region of a target.

    `count` is the number of regions that the lines name.
    """
    regions = list(regions)
    return "".join(
        f"       kdamond.0-123     [001] ..... {time + 1e-6 * number:13.6f}: damon_aggregated: "
        f"target_id={target} nr_regions={count or len(regions)} {start}-{end}: {accesses} 3\n"
        for number, (start, end, accesses) in enumerate(regions)
    )
