# SPDX-License-Identifier: GPL-2.0
"""Runs programs and scripts in the two-tier machine with `./kloc run`, for tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from kloc.base.paths import PROJECT

SOURCES = PROJECT / "tests/plugin"
"""The directory of the test programs, whose memory accesses are known."""

MIB_OF_PAGES = 256
"""Pages in a MiB."""

TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing"
"""A shell command that mounts tracefs; a script runs it before it traces anything."""

SCARCE = """
echo 1 >/sys/kernel/mm/kloc/enabled
awk '/^Node/ {node = $2} node == "0," && $2 == "free" {free += $3}
    END {print free - 2000}' /proc/zoneinfo >/sys/kernel/mm/kloc/reserve_pages
"""
"""Shell commands that set reserve_pages so that fast memory always has too few free pages.

So pages that are not in use are demoted at once, and few files are enough to see it.
"""


def kloc_run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `./kloc run` with `arguments`, and assert that it exits with `status`."""
    process = subprocess.run(
        [PROJECT / "kloc", "run", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert process.returncode == status, process.stdout + process.stderr
    return process


def run_script(directory: Path, policy: str, setup: str, command: str, *options: object) -> str:
    """Run the script `setup`, then `command`, under a policy, and return the output of `command`.

    `directory` is on the host and gets the script. `options` are further options of `kloc run`.
    """
    script = directory / "setup"
    script.write_text(setup)
    arguments = ["--policy", policy, "--setup", script, *options]
    return kloc_run(*arguments, "--", "sh", "-ec", command).stdout


def parse_counts(printed: str) -> dict[str, int]:
    """Return the numbers in lines of the form "NAME NUMBER" by name, and ignore other lines."""
    pairs = (line.split() for line in printed.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def read_run(path: Path) -> dict[str, Any]:
    """Return the run in a result file that has only one."""
    (run,) = json.loads(path.read_text())["runs"]
    assert isinstance(run, dict)
    return run
