# SPDX-License-Identifier: GPL-2.0
"""The tool root: programs started in it behave as if they were started on the host."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build.root import QEMU_SOURCE, VERSIONS_OF, Bind, Root


def test_process_becomes_the_program(tools: Root) -> None:
    process = subprocess.Popen(tools.command(["sleep", "60"]))
    try:
        while (name := Path(f"/proc/{process.pid}/comm").read_text().strip()) != "sleep":
            assert process.poll() is None, name
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == -signal.SIGTERM


def test_file_descriptors_are_passed_on(tools: Root) -> None:
    memory = os.memfd_create("test")
    os.write(memory, b"hello")
    command = tools.command(["cat", f"/proc/self/fd/{memory}"])
    assert subprocess.check_output(command, pass_fds=[memory]) == b"hello"


def test_binds_directory_and_environment_are_set(tools: Root, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    other = Path("/build/other")
    output = tools.run(
        ["sh", "-c", "cat file /build/other; env"],
        binds=[tmp_path, Bind(tmp_path / "file", other)],
        cwd=tmp_path,
        env={"NAME": "a value"},
    )
    assert output.startswith("contentcontent")
    assert "NAME=a value" in output.splitlines()
    assert "PYTEST_CURRENT_TEST" not in output


def test_error_quotes_the_last_lines(tools: Root) -> None:
    with pytest.raises(KlocError, match="what went wrong"):
        tools.run(["sh", "-c", "echo what went wrong >&2; exit 3"])


def test_program_is_killed_when_following_is_interrupted(tools: Root) -> None:
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tools.follow(["sh", "-c", "echo $$; sleep 60"], stop)
    assert not Path(f"/proc/{int(lines[0])}").exists()


def test_versions_are_of_all_tools(tools: Root) -> None:
    versions = tools.versions()
    assert versions.keys() == VERSIONS_OF.keys()
    assert versions["linux-source"].startswith("6.12.")


def test_root_has_the_source_of_qemu(tools: Root) -> None:
    names = [path.name for path in (tools.path / QEMU_SOURCE).iterdir()]
    assert sum(name.endswith(".dsc") for name in names) == 1
    assert any(".orig.tar." in name for name in names)
