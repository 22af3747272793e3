# SPDX-License-Identifier: GPL-2.0
"""What `Server.boot` returns, and what it says when a boot fails; a command is the machine."""

from __future__ import annotations

import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import server_vm
from support.server_vm import Server


@dataclass
class Shell(Server):
    """A server whose machine is a command of the shell: $1 is the job, $2 and $3 are the ports."""

    machine: str = ""

    def command(self, job: Path, console: Path, output: Path) -> list[str]:
        return ["sh", "-c", self.machine, "sh", str(job), str(console), str(output)]


def failure(server: Server) -> str:
    with pytest.raises(AssertionError) as raised:
        server.boot("true")
    return str(raised.value)


def test_output_is_that_of_the_script_without_its_status(tmp_path: Path) -> None:
    machine = "echo Linux >$2; printf 'one\\ntwo\\nstatus 0\\n' >$3"
    assert Shell(tmp_path, machine=machine).boot("true") == "one\ntwo\n"


def test_script_and_files_are_in_the_job(tmp_path: Path) -> None:
    package = tmp_path / "a.deb"
    package.write_bytes(b"a package")
    server = Shell(tmp_path, machine="cp $1 $1.kept; : >$2; echo status 0 >$3")
    server.boot("dpkg --install a.deb", [package])
    with tarfile.open(tmp_path / "job.tar.kept") as job:
        content = {one.name: file.read() for one in job if (file := job.extractfile(one))}
    # QEMU keeps a disk in memory, whose size is a power of two.
    assert (tmp_path / "job.tar.kept").stat().st_size.bit_count() == 1
    assert content == {"script": b"dpkg --install a.deb", "a.deb": b"a package"}


def test_each_boot_has_files_of_its_own(tmp_path: Path) -> None:
    server = Shell(tmp_path, machine=": >$2; echo $3 >$3; echo status 0 >>$3")
    printed = [server.boot("true") for _ in range(2)]
    assert printed == [f"{tmp_path}/output1\n", f"{tmp_path}/output2\n"]


def test_a_script_that_fails_is_shown_with_the_end_of_the_console(tmp_path: Path) -> None:
    machine = "seq -f line%g 100 >$2; printf 'E: no package\\nstatus 100\\n' >$3"
    message = failure(Shell(tmp_path, machine=machine))
    assert message.startswith("boot 1 failed")
    assert "E: no package\nstatus 100\n" in message
    assert "line100" in message and "line61\n" in message and "line60\n" not in message


@pytest.mark.parametrize("machine", ["echo one >$3; : >$2", ": >$2", ": >$2; echo status >$3"])
def test_a_machine_that_ends_before_the_script_is_a_failure(machine: str, tmp_path: Path) -> None:
    assert "boot 1 failed" in failure(Shell(tmp_path, machine=machine))


def test_a_machine_that_does_not_start_is_shown_with_its_message(tmp_path: Path) -> None:
    message = failure(Shell(tmp_path, machine="echo no such option >&2; exit 1"))
    assert message.startswith("boot 1 failed: no such option\n")


def test_a_message_is_a_failure_even_if_the_script_succeeds(tmp_path: Path) -> None:
    machine = ": >$2; echo status 0 >$3; echo warning"
    assert "boot 1 failed: warning\n" in failure(Shell(tmp_path, machine=machine))


def test_a_boot_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_vm, "BOOT_SECONDS", 0.5)
    began = time.monotonic()
    message = failure(Shell(tmp_path, machine="echo one >$3; echo Linux >$2; exec sleep 100"))
    assert time.monotonic() - began < 50
    assert "boot 1 failed: still running after 0.5 s" in message
    assert "one\n" in message and "Linux" in message
