# SPDX-License-Identifier: GPL-2.0
"""A repeated run gives the same result, also when the kernel reclaims memory during the run.

Reclaim finds old pages by their accessed bits, and kswapd frees memory while Redis loads. QEMU sets
such a bit when it adds an entry to its TLB, whose size would depend on the host's time but for our
patch (accel/tcg: give the TLB a fixed size with icount).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kloc.base.paths import PROJECT


@pytest.mark.soak
def test_reclaim_does_not_depend_on_the_load_of_the_host(tmp_path: Path) -> None:
    """The first run has the host for itself, the others run at the same time."""
    first, *others = (tmp_path / f"{number}.json" for number in range(4))
    documents = [wait_for(start_run(first), first)]
    running = [(start_run(path), path) for path in others]
    documents += [wait_for(process, path) for process, path in running]
    assert all(document == documents[0] for document in documents)


def start_run(result: Path) -> subprocess.Popen[str]:
    """Start a run of Redis that writes its result to `result`."""
    command = [f"{PROJECT}/kloc", "run", "redis", "--policy", "tpp", "--json", f"{result}"]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], result: Path) -> dict[str, Any]:
    """Wait for a run to succeed, and return its result."""
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    document: dict[str, Any] = json.loads(result.read_text())
    return document
