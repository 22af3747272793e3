# SPDX-License-Identifier: GPL-2.0
"""The table [daemon] of policies: what it says, and errors that name the file and the key."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from kloc.base import daemon
from kloc.base.errors import KlocError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a policy, with a program beside it that is executable and one that is not."""
    for name, mode in {"watch.sh": 0o755, "data": 0o644}.items():
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(mode)
    return tmp_path / "mine.toml"


def test_a_command_is_enough(file: Path) -> None:
    one = daemon.parse({"start": "watch"}, file)
    assert one == daemon.Daemon("watch\n")
    assert (one.ready_seconds, one.stop_seconds) == (10, 10)
    assert not one.controls_damon


def test_all_keys_are_read(file: Path) -> None:
    table = {
        "packages": ["damo"],
        "files": ["watch.sh"],
        "start": "watch.sh\n",
        "ready": "true",
        "ready_seconds": 2,
        "stop": "damo stop",
        "stop_seconds": 0.5,
        "needs": ["/sys/kernel/mm/damon/admin"],
    }
    one = daemon.parse(table, file)
    assert one.files == (file.parent / "watch.sh",)
    assert (one.start, one.ready, one.stop) == ("watch.sh\n", "true\n", "damo stop\n")
    assert (one.packages, one.ready_seconds, one.stop_seconds) == (("damo",), 2, 0.5)
    assert one.controls_damon


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("damo", "daemon is not a table"),
        ({}, "daemon.start is missing"),
        ({"start": ["damo"]}, "daemon.start: expected a string"),
        ({"start": " \n"}, "daemon.start: expected a string"),
        ({"start": "x", "stopp": "y"}, "daemon.stopp: this key is unknown, did you mean 'stop'?"),
        ({"start": "x", "ready": 1}, "daemon.ready: expected a string"),
        ({"start": "x", "ready_seconds": "1s"}, "daemon.ready_seconds: expected a number"),
        ({"start": "x", "stop_seconds": True}, "daemon.stop_seconds: expected a number"),
        ({"start": "x", "stop_seconds": 0}, "daemon.stop_seconds is 0, and must be above 0"),
        ({"start": "x", "packages": "damo"}, "daemon.packages: expected a list"),
        ({"start": "x", "packages": [""]}, "daemon.packages: expected a list"),
        ({"start": "x", "needs": ["/dev/kvm"]}, "daemon.needs: /dev/kvm is not a file under"),
        ({"start": "x", "files": ["absent.sh"]}, r"daemon.files: .*absent\.sh does not exist"),
        ({"start": "x", "files": ["../watch.sh"]}, "daemon.files: '../watch.sh' is not the name"),
        ({"start": "x", "files": ["data"]}, "daemon.files: .*data is not executable"),
    ],
)
def test_mistakes_are_named_with_file_and_key(table: Any, problem: str, file: Path) -> None:
    with pytest.raises(KlocError, match=rf"mine\.toml: {problem}") as error:
        daemon.parse(table, file)
    assert error.value.hint


def test_commands_see_scale_and_nodes() -> None:
    text = daemon.environment(42.7, [0, 1], [2, 3])
    script = f'{text}echo "$KLOC_SCALE, $KLOC_FAST_NODES, $KLOC_SLOW_NODES"'
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=True)
    assert done.stdout == "42.7, 0 1, 2 3\n"
