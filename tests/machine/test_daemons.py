# SPDX-License-Identifier: GPL-2.0
"""Policies that are daemons in the machine: when they run, and what happens if they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine

DAEMON = """\
#!/bin/sh
echo "nodes $KLOC_FAST_NODES and $KLOC_SLOW_NODES, scale $KLOC_SCALE" >/run/ticks
trap 'echo stopped >>/run/ticks; exit' TERM
while :; do
    echo tick >>/run/ticks
    sleep 0.01
done
"""

POLICY = """\
summary = "a daemon that writes a file"
[daemon]
files = ["ticks.sh"]
start = "ticks.sh"
ready = "test -s /run/ticks"
"""

MIB, HOT_MIB = 320, 16

# Fills fast memory and a part of slow memory, then writes to the last pages without a pause.
PROGRAM = f"""
$memory = "x" x ({MIB} << 20);
for (1 .. 600) {{
    substr($memory, 4096 * $_, 8) = "accessed" for {(MIB - HOT_MIB) * 256} .. {MIB * 256 - 1};
}}
"""


def policy(directory: Path, text: str) -> Path:
    """Write a policy and its program to a directory; return the policy's path."""
    (directory / "ticks.sh").write_text(DAEMON)
    (directory / "ticks.sh").chmod(0o755)
    path = directory / "ticks.toml"
    path.write_text(text)
    return path


def test_a_daemon_runs_beside_the_workload_on_the_spare_core(tmp_path: Path) -> None:
    setup = tmp_path / "setup"
    # It is ready before anything loads.
    setup.write_text("grep -q tick /run/ticks\n")
    script = (
        "grep -c tick /run/ticks; sleep 0.2; grep -c tick /run/ticks; "
        "cat /sys/fs/cgroup/daemon/cpuset.cpus.effective"
    )
    options = ("--json", tmp_path / "run.json", "--setup", setup)
    more = ("--fetch", f"/run/ticks:{tmp_path}/ticks")
    used = policy(tmp_path, POLICY)
    done = kloc_run("--policy", used, *options, *more, "--", "sh", "-ec", script)
    before, after, cpus = done.stdout.split()[:3]
    assert int(before) < int(after) - 5
    assert cpus == "4"
    run = read_run(tmp_path / "run.json")
    assert 0 < run["daemon"]["time_ns"] < 0.2e9
    assert not run["daemon"]["on_workload_cores"] and not run["daemon"]["killed"]
    lines = (tmp_path / "ticks").read_text().splitlines()
    assert lines[0] == "nodes 0 and 1, scale 42.7"
    # It was stopped before the file was read, and not sooner than the region ended.
    assert lines[-1] == "stopped"
    assert len(lines) - 2 >= int(after)


def test_a_daemon_that_ends_early_fails_the_run_with_its_last_lines(tmp_path: Path) -> None:
    start = "echo the first line; echo the reason >&2; sleep 0.1; exit 7"
    used = policy(tmp_path, f'summary = "s"\n[daemon]\nstart = "{start}"\n')
    done = kloc_run("--policy", used, "--", "sleep", "0.5", status=1)
    assert "daemon ended before the workload did, with status 7\n" in done.stderr
    assert "the first line\n    the reason\n" in done.stderr


def test_damo_tiers_memory(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    kloc_run("--policy", "damo-tier", "--json", path, "--", "perl", "-e", PROGRAM)
    run = read_run(path)
    promoted, demoted = (
        sum(run["migrated_pages"][way].values()) for way in ("promoted", "demoted")
    )
    assert promoted > 0 and demoted > 0
    assert run["daemon"]["time_ns"] > 0
    assert run["daemon"]["packages"]["damo"]
    assert not any("did nothing" in note for note in run["notes"])
