# SPDX-License-Identifier: GPL-2.0
"""A run is the same when it is repeated, reclaim and all.

What reclaim finds old goes by accessed bits, which QEMU sets when an entry of its TLB is made; and
it sizes that TLB by the host's time. Redis under tpp, where kswapd makes room while it loads, is
the run that showed it: without the patch that takes pages found old out of the TLB, two of them
were up to 3 % apart.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kloc.base.paths import PROJECT


@pytest.mark.soak
def test_reclaim_does_not_go_by_the_host_s_time(tmp_path: Path) -> None:
    """One has the host for itself; the others are in each other's way."""
    first, *others = (tmp_path / f"{number}.json" for number in range(4))
    documents = [ended(started(first), first)]
    running = [(started(path), path) for path in others]
    documents += [ended(process, path) for process, path in running]
    assert all(document == documents[0] for document in documents)


def started(result: Path) -> subprocess.Popen[str]:
    command = [f"{PROJECT}/kloc", "run", "redis", "--policy", "tpp", "--json", f"{result}"]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], result: Path) -> dict[str, Any]:
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    document: dict[str, Any] = json.loads(result.read_text())
    return document
