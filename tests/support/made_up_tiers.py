# SPDX-License-Identifier: GPL-2.0
"""A made-up server for native comparisons, and a kloc of its own process that runs on it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT
from support import made_up_nodes, made_up_server

VMSTAT = "pgpromote_success 10\npgdemote_kswapd 5\nnr_free_pages 7\n"

CODE = """
import sys
from pathlib import Path
from kloc.native import comparison, counters
from kloc.server import system
system.ROOT = Path(sys.argv[1])
counters.QUIET_SECONDS, counters.LOOK_SECONDS = 0.05, 0.01
from kloc import cli
sys.exit(cli.main(sys.argv[2:]))
"""
"""Runs a command line of kloc on a made-up server."""

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("unshare") is None
    or subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True,
        check=False,
    ).returncode
    != 0,
    reason="only root, and outside of containers that forbid it, can make namespaces",
)
"""Skips tests that run programs as a native comparison does."""


def make(root: Path) -> Path:
    """Create the files under `root`, and return `root`."""
    made_up_server.make(root)
    made_up_nodes.write(root, "proc/vmstat", VMSTAT)
    made_up_nodes.write(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Made-up CPU")
    made_up_nodes.write(root, "proc/sys/vm/drop_caches", "0")
    for node, free in ((0, 256 << 10), (1, 768 << 10)):
        folder = f"sys/devices/system/node/node{node}"
        text = f"Node {node} MemTotal: {1 << 20} kB\nNode {node} MemFree: {free} kB"
        made_up_nodes.write(root, f"{folder}/meminfo", text)
        made_up_nodes.write(root, f"{folder}/cpulist", "0-3" if node == 0 else "")
        for way in ("read", "write"):
            access = f"{folder}/access1/initiators"
            made_up_nodes.write(root, f"{access}/{way}_latency", str(80 + 100 * node))
            made_up_nodes.write(root, f"{access}/{way}_bandwidth", str(64000 >> node))
    return root


def _heed_signals() -> None:
    """Undo that a shell has started the tests in the background, or nohup: both ignore signals."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(root: Path, *argv: str) -> subprocess.Popen[str]:
    """Start a kloc on the made-up server under `root`."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, root, *argv],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src"), "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_signals,
    )


def settings(root: Path) -> dict[str, str]:
    """Return what a comparison must leave as it was: all files but that which drops page cache."""
    found = made_up_server.values(root)
    del found["proc/sys/vm/drop_caches"]
    return found
