# SPDX-License-Identifier: GPL-2.0
"""Running things in the machine with `./kloc run`, for the tests of what they do there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from kloc.base.paths import PROJECT

SOURCES = PROJECT / "tests/plugin"
"""Where programs are whose behaviour is known."""

MIB_OF_PAGES = 256

TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing"
"""What a script says before it traces anything."""


def kloc_run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `./kloc run` to its end, which is with `status`."""
    done = subprocess.run(
        [PROJECT / "kloc", "run", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def run_script(folder: Path, policy: str, setup: str, command: str, *options: object) -> str:
    """Run `command` after the script `setup`, under a policy; return what was printed."""
    script = folder / "setup"
    script.write_text(setup)
    chosen = ["--policy", policy, "--setup", script, *options]
    return kloc_run(*chosen, "--", "sh", "-ec", command).stdout


def counts(printed: str) -> dict[str, int]:
    """Return what lines of a name and a number say."""
    pairs = (line.split() for line in printed.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def result_of(path: Path) -> dict[str, Any]:
    """Return the one run of a result."""
    (run,) = json.loads(path.read_text())["runs"]
    assert isinstance(run, dict)
    return run
