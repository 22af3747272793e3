# SPDX-License-Identifier: GPL-2.0
"""The tool root: what is started in it behaves as if it was started here."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build.root import VERSIONS_OF, Bind, Root


def test_the_process_is_the_program(tools: Root) -> None:
    process = subprocess.Popen(tools.command(["sleep", "60"]))
    try:
        while (name := Path(f"/proc/{process.pid}/comm").read_text().strip()) != "sleep":
            assert process.poll() is None, name
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == -signal.SIGTERM


def test_a_file_descriptor_is_passed_on(tools: Root) -> None:
    memory = os.memfd_create("test")
    os.write(memory, b"hello")
    command = tools.command(["cat", f"/proc/self/fd/{memory}"])
    assert subprocess.check_output(command, pass_fds=[memory]) == b"hello"


def test_binds_folder_and_environment(tools: Root, tmp_path: Path) -> None:
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


def test_an_error_quotes_the_last_lines(tools: Root) -> None:
    with pytest.raises(KlocError, match="sh failed:\nwhat went wrong"):
        tools.run(["sh", "-c", "echo what went wrong >&2; exit 3"])


def test_what_is_followed_ends_with_its_reader(tools: Root) -> None:
    lines = []

    def stop(line: str) -> None:
        lines.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tools.follow(["sh", "-c", "echo $$; sleep 60"], stop)
    assert not Path(f"/proc/{int(lines[0])}").exists()


def test_versions(tools: Root) -> None:
    versions = tools.versions()
    assert versions.keys() == VERSIONS_OF.keys()
    assert versions["linux-source"].startswith("6.12.")
