# SPDX-License-Identifier: GPL-2.0
"""Applies schemes with a value of the threshold that is tuned to processes, with DAMON."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.schemes import scheme
from kloc.schemes.damon import Damon
from kloc.schemes.scheme import Scheme
from kloc.schemes.sysfs import Attributes, Processes


class DamonSetting:
    """Schemes on the running system (`kloc.tune.workloads.Setting`)."""

    def __init__(self, damon: Damon, schemes: Sequence[Scheme], attributes: Attributes) -> None:
        self._damon = damon
        self._schemes = schemes
        self._attributes = attributes
        self.pids: tuple[int, ...] = ()
        """The processes that were last seen."""

    def start(self, value: float | None, pids: Sequence[int]) -> None:
        """Apply the schemes with a value; None: nothing runs, and nothing is monitored."""
        self.pids = tuple(pids)
        if value is not None:
            schemes = scheme.at(self._schemes, value)
            self._damon.apply(schemes, self._attributes, Processes(tuple(pids)))

    def follow(self, pids: Sequence[int]) -> None:
        """Let the schemes watch these processes."""
        self.pids = tuple(pids)
        self._damon.retarget(pids)

    def stop(self) -> None:
        """End the schemes."""
        self._damon.stop()
