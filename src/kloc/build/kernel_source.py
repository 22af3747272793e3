# SPDX-License-Identifier: GPL-2.0
"""The kernel's source: Debian's, and the tree that our files and patches make of it.

The tree stays in the cache. An update writes only the files whose content changes, so make
compiles only what depends on them.
"""

import filecmp
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kloc.base import cache, paths, progress
from kloc.base.errors import KlocError
from kloc.base.files import write_text
from kloc.build import root
from kloc.build.root import Bind, Root

KERNEL = paths.shipped("kernel")

ARCHIVE = Path("usr/src/linux-source-6.12.tar.xz")
"""The archive of Debian's kernel source in the tool root."""

SOURCE = Path("/build/linux")
"""The path of the kernel tree inside the root."""


def patches() -> list[Path]:
    """Return the patches of the series, in the order in which they apply."""
    lines = (KERNEL / "patches" / "series").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return [KERNEL / "patches" / name for name in names]


def unpatched_source() -> Path:
    """Return the directory of Debian's kernel source without our changes, unpacked on first use."""
    tools = root.tool_root()
    version = tools.versions()["linux-source"]
    entry = cache.build(
        "linux", cache.key(version), lambda draft: unpack(tools.path / ARCHIVE, draft)
    )
    return entry / "source"


def unpack(archive: Path, directory: Path) -> None:
    """Unpack the kernel source `archive` to `directory`/source."""
    tree = directory / "source"
    tree.mkdir()
    inside = Path("/build/linux.tar.xz")
    with progress.estimated("unpacking the kernel source", seconds=25):
        root.tool_root().run(
            ["tar", "--extract", "--no-same-owner", "--strip-components=1", f"--file={inside}"],
            binds=[Bind(tree, SOURCE), Bind(archive, inside)],
            cwd=SOURCE,
        )


def apply_series(tools: Root, linux: Path, tree: Path) -> None:
    """Write to the empty directory `tree` every file that our changes add to `linux` or modify.

    Raises KlocError if a new file exists in Linux, or if a patch does not apply.
    """
    for name in new_files():
        if (linux / name).exists():
            raise KlocError(
                f"kernel/files/{name} already exists in Linux",
                hint="write its changes as a patch in kernel/patches",
            )
        copy_file(KERNEL / "files" / name, tree / name)
    for name in patched_files():
        if (linux / name).exists():
            copy_file(linux / name, tree / name)
    for patch in patches():
        try:
            tools.run(
                ["git", "apply", "-"],
                binds=[Bind(tree, SOURCE)],
                cwd=SOURCE,
                stdin=patch.read_text(),
            )
        except KlocError as error:
            raise KlocError(f"{patch.name} does not apply: {error.message}") from error


def new_files() -> list[Path]:
    """Return the files in kernel/files, as paths in the kernel tree."""
    return relative_files(KERNEL / "files")


def compiled_files() -> list[Path]:
    """Return the files in kernel/files that the kernel is built from: not those of its selftests.

    They are paths in the kernel tree.
    """
    return [name for name in new_files() if name.parts[0] != "tools"]


def series_files() -> list[str | Path]:
    """Return what a kernel is built from, in addition to Debian's source, for `cache.key`.

    That is the names and contents of kernel/files, without the selftests, and the patches.
    """
    files = [part for name in compiled_files() for part in (str(name), KERNEL / "files" / name)]
    return [*files, *patches()]


def patched_files() -> set[Path]:
    """Return the files that the patches name, as paths in the kernel tree."""
    names = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
    return {Path(name) for patch in patches() for name in names.findall(patch.read_text())}


def relative_files(directory: Path) -> list[Path]:
    """Return all files below `directory`, as paths relative to it."""
    return sorted(path.relative_to(directory) for path in directory.rglob("*") if path.is_file())


def update_file(source: Path, target: Path) -> None:
    """Make `target` a copy of `source`, or remove it if there is no `source`.

    A `target` with the same content is not touched and keeps its time.
    """
    if not source.exists():
        target.unlink(missing_ok=True)
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        copy_file(source, target)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its mode, with the current time. Other hard links of `target` do not change.

    Creates missing parent directories.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target)


class WorkTree:
    """The kernel tree that is compiled: Debian's source with our files and patches.

    It starts as hard links to Debian's source. `changed.json` lists the files that differ from it;
    if that list is missing or cannot be read, the tree is made from scratch.
    """

    def __init__(self, tools: Root, linux: Path, name: str = "work") -> None:
        """Open the tree `name` next to `linux`, Debian's source; make it if it does not exist."""
        self.tools = tools
        self.linux = linux
        self.directory = linux.parent / name
        self.source = self.directory / "source"
        self._changed = self.directory / "changed.json"
        if self._read_changed() is None:
            cache.remove(self.directory)
            self.directory.mkdir()
            subprocess.run(["cp", "--archive", "--link", linux, self.source], check=True)
            self._write_changed(set())

    def objects(self, variant: str) -> Path:
        """Return the directory for the object files of `variant`."""
        directory = self.directory / f"objects-{variant}"
        directory.mkdir(exist_ok=True)
        return directory

    def update(self) -> None:
        """Apply the current series, writing only the files whose content changes."""
        with tempfile.TemporaryDirectory(dir=self.directory) as name:
            staging = Path(name)
            apply_series(self.tools, self.linux, staging)
            before = self._read_changed() or set()
            wanted = set(relative_files(staging))
            # Listed first, so that the list covers every change if this process is killed.
            self._write_changed(before | wanted)
            for path in wanted:
                update_file(staging / path, self.source / path)
            for path in before - wanted:
                update_file(self.linux / path, self.source / path)
            self._write_changed(wanted)

    def _write_changed(self, changed: set[Path]) -> None:
        write_text(self._changed, json.dumps(sorted(str(path) for path in changed)))

    def _read_changed(self) -> set[Path] | None:
        """Return the files that differ from Debian's source; None if the list is unreadable."""
        try:
            return {Path(name) for name in json.loads(self._changed.read_text())}
        except (FileNotFoundError, ValueError):
            return None
