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

# The state of each kdamond, and what damo-tier.sh has told it last.
DAMON_SAYS = """
cd /sys/kernel/mm/damon/admin/kdamonds
for number in 0 1; do
    echo "$(cat $number/state)" \
        "$(cat $number/contexts/0/schemes/0/quotas/goals/0/current_value)"
done
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


def test_damo_runs_and_is_told_how_much_fast_memory_is_free(tmp_path: Path) -> None:
    """How much it moves is DAMON's draw: in a machine this small it has few regions."""
    path = tmp_path / "run.json"
    script = f"perl -e '$memory = \"x\" x (64 << 20); sleep 1' & sleep 0.5\n{DAMON_SAYS}"
    done = kloc_run("--policy", "damo-tier", "--json", path, "--", "sh", "-ec", script)
    (demotes, free), (promotes, used) = (line.split() for line in done.stdout.splitlines()[:2])
    assert demotes == promotes == "on"
    # None may be: what the low watermark keeps does not count.
    assert 0 <= int(free) < 10_000
    # They were told one after the other, from one look.
    assert abs(int(free) + int(used) - 10_000) < 100
    run = read_run(path)
    assert run["daemon"]["time_ns"] > 0
    assert run["daemon"]["packages"]["damo"]
