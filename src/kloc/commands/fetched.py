# SPDX-License-Identifier: GPL-2.0
"""Brings files of the machine back to this host, after the measured region (`kloc run --fetch`).

The guest's agent runs a script after the measured region and sends what it prints. So nothing that
is measured changes, and each file has a line there: its archive, or the reason why there is none.
"""

from __future__ import annotations

import base64
import io
import posixpath
import shlex
import shutil
import stat
import tarfile
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.base import files
from kloc.base.errors import HINTS, KlocError

LIMIT_MIB = 16
"""The size of a compressed archive at most: it comes over a serial line."""

ERROR = "error: "
"""How the line of a path begins that has no archive."""

SCRIPT = f"""\
fetch() {{
	archive=$(mktemp)
	if ! tar --hard-dereference -C "$1" -czf "$archive" -- "$2" 2>"$archive.errors"; then
		echo "{ERROR}$(head -n 1 "$archive.errors")"
	elif [ "$(stat -c %s "$archive")" -gt {LIMIT_MIB << 20} ]; then
		echo "{ERROR}its archive is larger than {LIMIT_MIB} MiB"
	else
		base64 -w 0 "$archive"
		echo
	fi
	rm "$archive" "$archive.errors"
}}
"""
"""A shell function that prints the line of one path: its directory and its name are arguments."""


@dataclass(frozen=True)
class Fetch:
    """A file or directory of the machine, and where it goes on this host."""

    path: str
    target: Path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return posixpath.basename(self.path)


def parse(text: str) -> Fetch:
    """Return what `PATH[:DEST]` says, as argparse's `type`. DEST is a path, or a directory."""
    path, _, target = text.partition(":")
    normal = posixpath.normpath(path)
    if not path.startswith("/") or normal == "/":
        raise ArgumentTypeError(f"'{path}' is not the absolute path of a file in the machine")
    fetch = Fetch(normal, Path(target or "."))
    return Fetch(normal, fetch.target / fetch.name) if fetch.target.is_dir() else fetch


def check(fetches: Iterable[Fetch]) -> None:
    """Raise KlocError unless all files can be written here. Call this before a run starts."""
    targets: set[Path] = set()
    for one in fetches:
        option = f"--fetch {one.path}:{one.target}"
        if one.target.is_dir():
            raise KlocError(f"{option}: {one.target} is a directory", "remove it, or name another")
        if one.target.resolve() in targets:
            raise KlocError(f"{option}: another file goes to {one.target}, too", "name another")
        targets.add(one.target.resolve())
        files.check_writable(option, one.target)


def script(fetches: Iterable[Fetch]) -> str:
    """Return the shell script that prints a line for each path."""
    calls = [shlex.join(["fetch", posixpath.dirname(one.path), one.name]) for one in fetches]
    return SCRIPT + "".join(f"{call}\n" for call in calls)


def write(fetches: Sequence[Fetch], printed: str) -> None:
    """Write the files from the lines that the script has printed; what was there becomes FILE.old.

    Raises KlocError at the end if some could not be fetched.
    """
    failures = []
    for one, line in zip(fetches, printed.splitlines(), strict=True):
        if line.startswith(ERROR):
            failures.append(f"--fetch {one.path}: {line.removeprefix(ERROR)}")
        else:
            _write(one, base64.b64decode(line))
    if failures:
        raise KlocError("\n".join(failures), "the results of the run are complete without it")


def _write(one: Fetch, archive: bytes) -> None:
    draft = files.draft_of(one.target)
    try:
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
            for member in _ordered(tree, one):
                _extract(tree, member, draft / member.name)
        files.keep_old(one.target)
        (draft / one.name).rename(one.target)
    except OSError as error:
        raise KlocError(
            f"cannot write {one.target}: {error.strerror}", HINTS.get(error.errno or 0)
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _ordered(tree: tarfile.TarFile, one: Fetch) -> Iterator[tarfile.TarInfo]:
    """Yield the members: links at the end, so that nothing is written where one leads.

    Devices, pipes and sockets are left out. Raises KlocError for what only a changed tar writes.
    """
    members = [one for one in tree if one.isdir() or one.isfile() or one.issym()]
    for member in sorted(members, key=tarfile.TarInfo.issym):
        parts = Path(member.name).parts
        if member.name.startswith("/") or ".." in parts or parts[:1] != (one.name,):
            raise KlocError(f"--fetch {one.path}: the machine sent {member.name} instead")
        yield member


def _extract(tree: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        path.symlink_to(member.linkname)
    elif member.isdir():
        path.mkdir(exist_ok=True)
    else:
        content = tree.extractfile(member)
        assert content is not None
        path.write_bytes(content.read())
        path.chmod(stat.S_IMODE(member.mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
