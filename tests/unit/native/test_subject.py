# SPDX-License-Identifier: GPL-2.0
"""What is measured natively: the scripts of workloads, and commands of the user's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.measure import workload
from kloc.measure.workload import Size
from kloc.native import subject
from kloc.native.box import PROGRAMS

SIZE = Size(2.0, 5.0)
NATIVE = [name for name in workload.names() if not workload.load(name).not_native]


def test_workloads_that_were_tried_are_native() -> None:
    assert {"redis", "gups", "btree", "smallfiles", "mail", "pagerank", "bfs"} <= set(NATIVE)
    for name in ("filebench", "serverless"):
        with pytest.raises(KlocError, match=f"does not measure {name} on a server: "):
            subject.native(name)


@pytest.mark.parametrize("name", NATIVE)
def test_scripts_of_native_workloads_change_no_setting(name: str) -> None:
    scripts = subject.of_workload(workload.load(name), SIZE).scripts(1)
    assert {"setup", "measured"} <= set(scripts)
    for script in scripts.values():
        assert "/proc/sys" not in script and "/sys/" not in script and "sysctl" not in script
        done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_a_workload_begins_in_data_with_its_programs_in_path() -> None:
    redis = subject.of_workload(workload.load("redis"), SIZE)
    for script in redis.scripts(1).values():
        assert script.startswith(f"cd /data\nPATH={PROGRAMS}:$PATH\n")
    assert redis.own and redis.slices == workload.SLICES_MAX
    assert redis.has("start", 1) and not redis.has("prepare", 1)


def test_each_round_has_operations_of_its_own_and_the_same_data() -> None:
    redis = subject.of_workload(workload.load("redis"), SIZE)
    first, second = redis.scripts(1), redis.scripts(2)
    assert first["setup"] == second["setup"]
    assert first["measured"] != second["measured"]


def test_a_workload_that_cannot_be_repeated_has_no_warm_up() -> None:
    liblinear = subject.of_workload(workload.load("liblinear"), SIZE)
    assert liblinear.slices == 0 and not liblinear.has("warm", 1)


def test_a_command_is_run_as_it_is_written() -> None:
    command = subject.of_command(["./my bench", "a b", "$HOME"], None, 0, {"PATH": "/bin"})
    assert command.scripts(1) == {"measured": "exec './my bench' 'a b' '$HOME'\n"}
    assert (command.name, command.own, command.slices) == ("my bench", False, 0)
    assert command.directory == Path.cwd()
    assert command.outcome({}).operations == 1


def test_setup_and_warm_up_of_a_command() -> None:
    command = subject.of_command(["x"], "echo\n", 2, {})
    assert command.scripts(1) == {"setup": "echo\n", "warm": "exec x\n", "measured": "exec x\n"}
    assert command.slices == 2
