# SPDX-License-Identifier: GPL-2.0
"""kloc compare --native inside the machine, on kloc's kernel with two tiers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.in_machine import run_script, split_parts

pytestmark = pytest.mark.machine

FILES = (
    "/sys/kernel/mm/tiering/policy",
    "/sys/kernel/mm/numa/demotion_enabled",
    "/sys/kernel/mm/lru_gen/enabled",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/vm/watermark_boost_factor",
    "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms",
)

PROGRAM = """\
cat /sys/kernel/mm/tiering/policy >>/run/policies
cat /data/file /data/file | wc -c
"""
"""Reads a file that SETUP has written, twice."""

SETUP = "head -c 96M /dev/zero >/data/file\n"

COMPARE = "kloc compare --native --policies stock,tpp,kloc --settle 1 --scratch /data"

SCRIPT = f"""
part() {{ echo "== $1"; }}
values() {{ for file in {" ".join(FILES)}; do echo "$file $(cat $file 2>&1)"; done; }}
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
printf '%s' '{PROGRAM}' >/run/program
printf '%s' '{SETUP}' >/run/setup
part before; values
part dry; {COMPARE} --rounds 1 --dry-run -- sh /run/program
part compare
{COMPARE} --rounds 2 --setup /run/setup --json /run/result.json -- sh -e /run/program 2>&1
part result; cat /run/result.json
part policies; cat /run/policies
part after; values
part left; ls /run/kloc; ls -d /data/kloc-native /sys/fs/cgroup/kloc-native 2>/dev/null || true
{COMPARE} --rounds 1 -- sh -c 'echo >/run/ready; sleep 1000' >/run/said 2>&1 &
until [ -e /run/ready ]; do sleep 0.1; done
part killed; kill -9 $!; wait $! || echo $?
until ! pgrep -x sleep >/dev/null; do sleep 0.1; done
kloc compare --native -- true 2>&1 || echo $?
kloc off
part restored; values
part end
"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SCRIPT printed, by name."""
    directory = tmp_path_factory.mktemp("native")
    setup = f"exec >/run/printed\n{SCRIPT}"
    return split_parts(run_script(directory, "naive", setup, "cat /run/printed", "--with-kloc"))


@pytest.fixture(scope="module")
def result(parts: dict[str, str]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(parts["result"])
    return content


def test_each_round_has_every_policy_once_and_it_was_selected(
    parts: dict[str, str], result: dict[str, Any]
) -> None:
    runs = result["runs"]
    selected = {"stock": "none", "tpp": "none", "kloc": "kloc"}
    for number in (1, 2):
        assert sorted(run["policy"] for run in runs if run["round"] == number) == sorted(selected)
    assert parts["policies"].split() == [selected[run["policy"]] for run in runs]


def test_runs_have_cpu_time_and_memory_in_each_tier(result: dict[str, Any]) -> None:
    for run in result["runs"]:
        assert run["cpu_ns"]["user"] + run["cpu_ns"]["system"] > 0
        in_memory = run["memory_bytes"]["end"]
        # The file of SETUP, or what of it the kernel has kept.
        assert sum(tier["file"] for tier in in_memory.values()) > 32 << 20
        assert run["node_bytes"]["end"]["fast"]["total"] > run["node_bytes"]["end"]["fast"]["used"]


def test_the_server_is_described(result: dict[str, Any]) -> None:
    nodes = result["native"]["nodes"]
    assert (nodes["0"]["tier"], nodes["1"]["tier"]) == ("fast", "slow")
    assert nodes["0"]["cpus"]


def test_the_table_and_the_verdicts_are_printed(parts: dict[str, str]) -> None:
    assert "kloc against tpp, round by round:" in parts["compare"]
    assert re.search(r"^ kloc  ", parts["compare"], re.M) and "…" not in parts["compare"]
    assert "round 2 of 2: sh under" in parts["compare"]
    assert "6 runs" not in parts["dry"] and "3 runs: " in parts["dry"]


def test_everything_is_as_before_and_nothing_is_left(parts: dict[str, str]) -> None:
    assert parts["after"] == parts["before"]
    assert "server.json" not in parts["left"]
    assert "kloc-native" not in parts["left"]


def test_after_a_kill_the_program_ends_and_off_restores_everything(parts: dict[str, str]) -> None:
    lines = parts["killed"].splitlines()
    assert lines[0] == "137"
    assert "kloc off restores what was there before" in parts["killed"]
    assert lines[-1] == "kloc is off, and what it had set is restored"
    assert parts["restored"] == parts["before"]
