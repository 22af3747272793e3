# SPDX-License-Identifier: GPL-2.0
"""Files of the machine on this host: the script of the machine, and what is made of its output."""

from __future__ import annotations

import base64
import io
import subprocess
import tarfile
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.commands import fetched
from kloc.commands.fetched import Fetch


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that stands for the machine's, beside the current one."""
    for name in ("machine", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "machine"


def fetch(*fetches: Fetch) -> None:
    """Run the script on this host, as the agent does in the machine, and write the files."""
    fetched.check(fetches)
    done = subprocess.run(
        ["sh", "-e", "-c", fetched.script(fetches)], capture_output=True, text=True, check=True
    )
    fetched.write(fetches, done.stdout)


def test_files_and_directories_are_copied_with_their_modes(machine: Path) -> None:
    tree = machine / "a b"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "program").write_bytes(bytes(range(256)) * 100)
    (tree / "sub" / "program").chmod(0o755)
    (tree / "same").hardlink_to(tree / "sub" / "program")
    (tree / "link").symlink_to("sub/program")
    fetch(fetched.parse(str(tree)), fetched.parse(f"{tree}/same:other"))
    here = Path("a b")
    assert (here / "sub" / "program").stat().st_mode & 0o777 == 0o755
    assert (here / "link").readlink() == Path("sub/program")
    for copy in (here / "sub" / "program", here / "same", Path("other")):
        assert copy.read_bytes() == (tree / "same").read_bytes()


def test_what_is_missing_or_too_large_does_not_keep_the_others(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "good").touch()
    with pytest.raises(KlocError, match=r"--fetch .*none: .*No such file") as error:
        fetch(fetched.parse(f"{machine}/none"), fetched.parse(f"{machine}/good"))
    assert error.value.hint
    assert Path("good").exists()
    small = fetched.SCRIPT.replace(str(fetched.LIMIT_MIB << 20), "10")
    monkeypatch.setattr(fetched, "SCRIPT", small)
    with pytest.raises(KlocError, match="larger than 16 MiB"):
        fetch(fetched.parse(f"{machine}/good:large"))


def test_file_that_was_there_is_kept(machine: Path) -> None:
    (machine / "file").write_text("new")
    Path("file").write_text("old")
    fetch(fetched.parse(f"{machine}/file"))
    assert Path("file").read_text() == "new"
    assert Path("file.old").read_text() == "old"


def test_destination_may_be_a_directory_or_a_new_name(machine: Path) -> None:
    Path("there").mkdir()
    assert fetched.parse("/data/x/") == Fetch("/data/x", Path("x"))
    assert fetched.parse("/data/x:there") == Fetch("/data/x", Path("there/x"))
    assert fetched.parse("/data/x:there/y") == Fetch("/data/x", Path("there/y"))


@pytest.mark.parametrize("text", ["data/x", "", "/", "/..", ":x"])
def test_path_of_the_machine_is_absolute(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="absolute path"):
        fetched.parse(text)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["/a:none/x"], "does not exist"),
        (["/a:/proc/x"], "no file can be written in /proc"),
        (["/a:x", "/b:./x"], "another file goes to x"),
        (["/d:."], "is a directory"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_run(
    texts: list[str], reason: str, machine: Path
) -> None:
    Path("d").mkdir()
    with pytest.raises(KlocError, match=reason):
        fetched.check([fetched.parse(text) for text in texts])


@pytest.mark.parametrize("name", ["/etc/passwd", "x/../../y", "other"])
def test_archive_of_something_else_is_refused(name: str, machine: Path) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tree:
        tree.addfile(tarfile.TarInfo(name))
    line = base64.b64encode(archive.getvalue()).decode()
    with pytest.raises(KlocError, match="the machine sent"):
        fetched.write([Fetch("/data/x", Path("x"))], line)
    assert not list(Path().iterdir())


def test_nothing_is_written_where_a_link_leads(machine: Path) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tree:
        link = tarfile.TarInfo("x/sub")
        link.type, link.linkname = tarfile.SYMTYPE, str(machine)
        tree.addfile(link)
        tree.addfile(tarfile.TarInfo("x/sub/file"))
    line = base64.b64encode(archive.getvalue()).decode()
    with pytest.raises(KlocError, match="cannot write x"):
        fetched.write([Fetch("/data/x", Path("x"))], line)
    assert not list(machine.iterdir())
