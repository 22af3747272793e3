# SPDX-License-Identifier: GPL-2.0
"""A workload that takes seconds. As a program, runs a kloc command that knows it: COMMAND..."""

from __future__ import annotations

import sys

from kloc.measure import workload
from kloc.measure.workload import Outcome, Workload
from support.command import run

TINY = Workload(
    name="tiny",
    summary="writes, reads and sorts a small file",
    packages=(),
    setup=lambda size, seed: f"seq {seed} 60000 >/data/numbers\n",
    measured=lambda *_: "sort -r /data/numbers | md5sum\n",
    check=None,
    outcome=lambda *_: Outcome(1, None),
    repeatable=True,
    instructions=5e9,
)

if __name__ == "__main__":
    workload.names = lambda: [TINY.name, "redis"]
    workload.load = lambda name: TINY
    sys.exit(run(*sys.argv[1:]))
