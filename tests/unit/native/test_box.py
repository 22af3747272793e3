# SPDX-License-Identifier: GPL-2.0
"""Scripts of a run in namespaces of their own: what they see, and that nothing of them stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.native.box import Box, Surroundings
from kloc.native.subject import CLEAN
from support.made_up_tiers import needs_namespaces

pytestmark = needs_namespaces


def box(folder: Path, own: bool, programs: tuple[Path, ...] = (), **scripts: str) -> Box:
    environment = {**CLEAN, "MINE": "yes"}
    return Box(folder, scripts, Surroundings(own, folder.parent, environment), None, programs)


def test_a_workload_has_its_own_data_run_and_tmp(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    script = "ls -A /data /run /tmp\necho $MINE >/data/file\necho x >/run/kloc/x\nls -A /data\n"
    with box(folder, True, look=script) as made:
        made.step("look")
        assert made.printed("look").split() == ["/data:", "/run:", "kloc", "/tmp:", "file"]
    assert (folder / "data/file").read_text() == "yes\n"
    assert not Path("/data/file").exists()


def test_a_workload_has_the_hosts_programs_and_its_own(tmp_path: Path) -> None:
    folder, program = tmp_path / "run", tmp_path / "mine"
    folder.mkdir()
    program.write_text("#!/bin/sh\necho mine $1\n")
    program.chmod(0o755)
    with box(folder, True, (program,), look="PATH=/programs:$PATH\nmine $1\nls -d /usr\n") as made:
        made.step("look", 3)
        assert made.printed("look") == "mine 3\n/usr\n"


def test_a_workload_has_ports_of_its_own(tmp_path: Path) -> None:
    import socket

    folder = tmp_path / "run"
    folder.mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        python = f"import socket; socket.socket().bind(('127.0.0.1', {port})); print('free')"
        with box(folder, True, look=f'python3 -c "{python}"\n') as made:
            made.step("look")
            assert made.printed("look") == "free\n"


def test_a_command_has_the_hosts_files_and_directory(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "mine").write_text("x\n")
    with box(folder, False, look="cat mine\necho y >made\n") as made:
        made.step("look")
        assert made.printed("look") == "x\n"
    assert (tmp_path / "made").read_text() == "y\n"


def test_servers_live_until_the_end_and_not_longer(tmp_path: Path) -> None:
    folder, beats = tmp_path / "run", tmp_path / "beats"
    folder.mkdir()
    server = f"setsid sh -c 'trap \"\" TERM HUP; while :; do echo >>{beats}; sleep 0.02; done' &\n"
    with box(folder, False, setup=server, measured="sleep 0.2\n") as made:
        made.step("setup")
        made.step("measured")
        assert beats.stat().st_size > 3
    before = beats.stat().st_size
    time.sleep(0.2)
    assert beats.stat().st_size == before


def test_a_failing_script_is_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    lines = "for i in $(seq 20); do echo line $i; done\nfalse\necho not reached\n"
    with (
        box(folder, False, setup=lines) as made,
        pytest.raises(KlocError, match="setup ended with status 1") as error,
    ):
        made.step("setup")
    assert "\n  line 6\n" in error.value.message and "line 5\n" not in error.value.message
    assert error.value.message.endswith("line 20")


def test_an_agent_that_is_killed_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with box(folder, False, measured="sleep 9\n") as made:
        assert made._agent is not None
        os.kill(made._agent.pid, 9)
        with pytest.raises(KlocError, match="processes of a run were killed"):
            made.step("measured")


def test_namespaces_that_cannot_be_made_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "unshare").write_text("#!/bin/sh\necho not permitted >&2\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setitem(CLEAN, "PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(KlocError, match="not permitted"), box(folder, False):
        pass
