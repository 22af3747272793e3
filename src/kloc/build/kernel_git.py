# SPDX-License-Identifier: GPL-2.0
"""The kernel as a git tree to work in: made from kernel/files and kernel/patches, and back.

The tree's first commit, tagged `linux`, is Debian's source as it is; the second holds kernel/files;
then comes one commit for each patch. Back again, every file that Linux does not have goes to
kernel/files whichever commit it came with, and the rest of each commit becomes a patch.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.build import kernel_source, root
from kloc.build.root import Bind

BASE = "linux"
"""The tag on Debian's source as it is."""

TREE = Path("/build/linux")
REPOSITORY = Path("/build/linux.git")
PATCHES = Path("/build/patches")
"""Where the root's git sees things."""

IDENTITY = {
    "GIT_AUTHOR_NAME": "kloc",
    "GIT_AUTHOR_EMAIL": "kloc@localhost",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "kloc",
    "GIT_COMMITTER_EMAIL": "kloc@localhost",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_CONFIG_KEY_1": "gc.auto",
    "GIT_CONFIG_VALUE_1": "0",
}
"""Commits are the same wherever they are made, and git leaves nothing running behind them."""

FORMAT = (
    *("--no-numbered", "--zero-commit", "--no-signature", "--no-renames", "--abbrev=12"),
    *("--no-thread", "--no-cover-letter", "--no-base", "--quiet"),
)
"""How patches are written, so that what was not changed comes out as it was."""


def checkout(folder: Path) -> None:
    """Make `folder` a git tree of the kernel with the series as commits.

    KlocError where it exists and is not empty, or where a patch does not apply.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KlocError(f"{folder} is there already", hint="name a new folder for the tree")
    source = repository()
    folder.mkdir(parents=True, exist_ok=True)
    with progress.estimated("checking the kernel out", seconds=20):
        binds = [Bind(source, REPOSITORY), Bind(folder, TREE)]
        _git(["clone", "--quiet", "--origin", BASE, str(REPOSITORY), "."], binds)
        _git(["remote", "remove", BASE], binds)
    _commit_new_files(folder)
    _commit_patches(folder)


def export(folder: Path) -> None:
    """Make kernel/files and kernel/patches what the commits in the tree `folder` say.

    KlocError where that is not such a tree, or has changes that are not committed.
    """
    binds = [Bind(folder, TREE)]
    _check_tree(folder, binds)
    find = ["log", "--format=", "--diff-filter=A", "--no-renames", "--name-only"]
    added = _lines([*find, f"{BASE}..HEAD"], binds)
    new = sorted({Path(name) for name in added if (folder / name).is_file()})
    _export_new_files(folder, new)
    with tempfile.TemporaryDirectory(dir=cache.directory()) as drafts:
        others = [f":(exclude){name}" for name in sorted(set(added))]
        command = ["format-patch", *FORMAT, f"--output-directory={PATCHES}", BASE, "--", "."]
        _git([*command, *others], [*binds, Bind(Path(drafts), PATCHES)])
        _export_patches(Path(drafts))


def repository() -> Path:
    """Return the bare repository with Debian's source as its only commit."""
    linux = kernel_source.unpatched_source()
    made = cache.build("linux-git", linux.parent.name, lambda draft: _import(linux, draft))
    return made / "linux.git"


def _import(linux: Path, draft: Path) -> None:
    repository = draft / "linux.git"
    repository.mkdir()
    binds = [Bind(linux, TREE), Bind(repository, REPOSITORY)]
    git = ["--git-dir", str(REPOSITORY), "--work-tree", str(TREE)]
    one_pack = ["-c", "core.bigFileThreshold=1", "-c", "core.compression=1"]
    version = root.tool_root().versions()["linux-source"]
    with progress.estimated("putting the kernel source into git", seconds=45):
        _git(["init", "--quiet", "--bare", "--initial-branch=kloc", str(REPOSITORY)], binds)
        _git([*git, *one_pack, "add", "--all", "--force", "."], binds)
        _git([*git, "commit", "--quiet", f"--message=Linux as in Debian's {version}"], binds)
        _git([*git, "tag", BASE], binds)


def _commit_new_files(folder: Path) -> None:
    shutil.copytree(kernel_source.KERNEL / "files", folder, dirs_exist_ok=True)
    binds = [Bind(folder, TREE)]
    _git(["add", "--force", *map(str, kernel_source.new_files())], binds)
    _git(["commit", "--quiet", "--message=kloc: the new files"], binds)


def _commit_patches(folder: Path) -> None:
    for patch in kernel_source.patches():
        command = ["am", "--quiet", "--keep-non-patch", "--committer-date-is-author-date"]
        try:
            _git(command, [Bind(folder, TREE)], stdin=patch.read_text())
        except KlocError as error:
            raise KlocError(
                f"{patch.name} does not apply: {error.message}",
                hint=f"mend it in {folder}, git am --continue, and apply the rest",
            ) from error


def _check_tree(folder: Path, binds: Sequence[Bind]) -> None:
    if not (folder / ".git").is_dir():
        raise KlocError(f"{folder} is not a git tree", hint="make one with kloc kernel checkout")
    if not _lines(["tag", "--list", BASE], binds):
        raise KlocError(
            f"{folder} has no tag '{BASE}': it was not made by kloc kernel checkout",
            hint="tag the commit that is Debian's source as it is, or make a new tree",
        )
    if changes := _lines(["status", "--porcelain", "--untracked-files=no"], binds):
        raise KlocError(f"{folder} has changes that are not committed:\n" + "\n".join(changes))


def _export_new_files(folder: Path, new: Sequence[Path]) -> None:
    files = kernel_source.KERNEL / "files"
    for name in {*kernel_source.new_files(), *new}:
        kernel_source.update_file(folder / name, files / name)
    for empty in sorted((path for path in files.rglob("*") if path.is_dir()), reverse=True):
        if not any(empty.iterdir()):
            empty.rmdir()


def _export_patches(drafts: Path) -> None:
    folder = kernel_source.KERNEL / "patches"
    names = sorted(draft.name for draft in drafts.glob("*.patch"))
    for name in {*names, *(old.name for old in folder.glob("*.patch"))}:
        kernel_source.update_file(drafts / name, folder / name)
    (folder / "series").write_text("".join(f"{name}\n" for name in names))


def _lines(argv: Sequence[str], binds: Sequence[Bind]) -> list[str]:
    return _git(argv, binds).splitlines()


def _git(argv: Sequence[str], binds: Sequence[Bind], stdin: str = "") -> str:
    """Run the root's git, the same everywhere, in the tree."""
    return root.tool_root().run(["git", *argv], binds=binds, cwd=TREE, env=IDENTITY, stdin=stdin)
