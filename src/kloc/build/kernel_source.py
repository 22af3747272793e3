# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel: Debian's source, with kernel/files, kernel/patches, kernel/config.

All of it is compiled in the tool root at fixed paths, so that neither the host nor where the
checkout lies shows in the result. The work tree stays in the cache and is brought up to date file
by file, so that make compiles what changed and no more.
"""

import filecmp
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import root
from kloc.build.root import Bind, Root

KERNEL = PROJECT / "kernel"
ARCHIVE = Path("usr/src/linux-source-6.12.tar.xz")
"""Debian's kernel source, in the tool root."""

SOURCE = Path("/build/linux")


def patches() -> list[Path]:
    """Return the patches in the order in which they apply."""
    lines = (KERNEL / "patches" / "series").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return [KERNEL / "patches" / name for name in names]


def unpatched_source() -> Path:
    """Return the folder with Debian's kernel source as it is, unpacked on first use."""
    tools = root.tool_root()
    version = tools.versions()["linux-source"]
    made = cache.build(
        "linux", cache.key(version), lambda draft: unpack(tools.path / ARCHIVE, draft)
    )
    return made / "source"


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the kernel source `archive` as `folder`/source."""
    tree = folder / "source"
    tree.mkdir()
    seen = Path("/build/linux.tar.xz")
    with progress.estimated("unpacking the kernel source", seconds=25):
        root.tool_root().run(
            ["tar", "--extract", "--no-same-owner", "--strip-components=1", f"--file={seen}"],
            binds=[Bind(tree, SOURCE), Bind(archive, seen)],
            cwd=SOURCE,
        )


def apply_series(tools: Root, linux: Path, tree: Path) -> None:
    """Put into the empty folder `tree` all files that differ from those in `linux`.

    A new file that Linux has already, a patch that does not apply: KlocError.
    """
    for name in new_files():
        if (linux / name).exists():
            raise KlocError(f"kernel/files/{name} is in Linux already", hint="make it a patch")
        copy_file(KERNEL / "files" / name, tree / name)
    for name in _patched_files():
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


def _patched_files() -> set[Path]:
    """Return the files that the patches name, as paths in the kernel tree."""
    names = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
    return {Path(name) for patch in patches() for name in names.findall(patch.read_text())}


def relative_files(folder: Path) -> list[Path]:
    """Return all files below `folder`, relative to it."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def update_file(source: Path, target: Path) -> None:
    """Make `target` a copy of `source`, which may not be there; leave it alone if it is one."""
    if not source.exists():
        target.unlink(missing_ok=True)
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        copy_file(source, target)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its mode; its time is now, and hard links of `target` stay what they are."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target)


def write_text(target: Path, text: str) -> None:
    """Make `target` hold `text`; where that fails, on a full disk say, it stays what it was."""
    draft = target.with_name(f".{target.name}.draft")
    draft.write_text(text)
    draft.rename(target)


class WorkTree:
    """The tree in the cache that is compiled, kept in step with the series.

    It starts as hard links to the vanilla source, and `changed.json` lists what differs from that.
    Without that list nobody knows what the tree is, and it is made anew.
    """

    def __init__(self, tools: Root, linux: Path) -> None:
        """Take the tree that lies beside `linux`, made if it is not there yet."""
        self.tools = tools
        self.linux = linux
        self.folder = linux.parent / "work"
        self.source = self.folder / "source"
        self._changed = self.folder / "changed.json"
        if self._noted() is None:
            cache.remove(self.folder)
            self.folder.mkdir()
            subprocess.run(["cp", "--archive", "--link", linux, self.source], check=True)
            self._note(set())

    def objects(self, variant: str) -> Path:
        """Return the folder for the object files of `variant`."""
        folder = self.folder / f"objects-{variant}"
        folder.mkdir(exist_ok=True)
        return folder

    def update(self) -> None:
        """Make the tree what the series says, writing only files whose content changes."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            staging = Path(name)
            apply_series(self.tools, self.linux, staging)
            before = self._noted() or set()
            wanted = set(relative_files(staging))
            self._note(before | wanted)
            for path in wanted:
                update_file(staging / path, self.source / path)
            for path in before - wanted:
                update_file(self.linux / path, self.source / path)
            self._note(wanted)

    def _note(self, changed: set[Path]) -> None:
        write_text(self._changed, json.dumps(sorted(str(path) for path in changed)))

    def _noted(self) -> set[Path] | None:
        """Return what was noted last; None if nothing was, or it cannot be read."""
        try:
            return {Path(name) for name in json.loads(self._changed.read_text())}
        except (FileNotFoundError, ValueError):
            return None
