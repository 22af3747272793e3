# SPDX-License-Identifier: GPL-2.0
"""A comparison that is killed and resumed ends with the document of one that was not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT

pytestmark = pytest.mark.machine

TIMEOUT_SECONDS = 600


def start(*options: object) -> subprocess.Popen[str]:
    """Start a comparison of all-slow and the oracle, which follows from it."""
    program = [sys.executable, "-m", "support.tiny_workload", "compare", "tiny"]
    search = os.pathsep.join(str(PROJECT / name) for name in ("src", "tests"))
    return subprocess.Popen(
        [*program, "--policies=all-slow,oracle", *map(str, options)],
        env={**os.environ, "PYTHONPATH": search},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Return what a comparison prints."""
    printed, messages = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, messages
    return printed


def test_a_killed_comparison_that_is_resumed_gives_the_same_document(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    printed = finish(start("--json", whole))

    killed = start("--json", part)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not part.exists():
        assert killed.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    killed.kill()
    killed.communicate()
    assert [run["policy"] for run in json.loads(part.read_text())["runs"]] == ["all-slow"]

    assert finish(start("--resume", part)) == printed
    assert part.read_bytes() == whole.read_bytes()
    (inputs,) = (line for line in printed.splitlines() if line.startswith("inputs "))
    assert len(inputs.split()[1]) == 16
