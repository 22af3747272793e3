# SPDX-License-Identifier: GPL-2.0
"""Converts kernel/files and kernel/patches to a git tree to work in, and the tree's commits back.

The tree's first commit, tagged `linux`, is Debian's source without our changes. The second adds
kernel/files. Each patch is one more commit. On export, every file that Linux does not have goes to
kernel/files, whichever commit adds it; the rest of each commit becomes a patch.
"""

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.base.files import write_text
from kloc.build import kernel_source, root
from kloc.build.root import Bind

BASE = "linux"
"""The tag of the first commit, Debian's source without our changes."""

TREE = Path("/build/linux")
REPOSITORY = Path("/build/linux.git")
PATCHES = Path("/build/patches")
"""Paths inside the root, where git runs."""

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
"""Makes commits the same on every host, and keeps git from starting gc in the background."""

FORMAT = (
    *("--no-numbered", "--zero-commit", "--no-signature", "--no-renames", "--abbrev=12"),
    *("--no-thread", "--no-cover-letter", "--no-base", "--quiet"),
)
"""Options of git format-patch with which an unchanged patch is written as it was."""

INDEX = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n", re.MULTILINE)
"""The line of a patch with the hashes of a file, which differ between Debian's versions of it."""

DEBIAN_IGNORES = "# Debian packaging: ignore everything at the top level"
"""The beginning of Debian's part of .gitignore, after a line that is only #."""

HUNK = re.compile(r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@.*$", re.MULTILINE)
"""The head of a hunk; where it is, and in which function, differs between versions."""


def checkout(directory: Path) -> None:
    """Make `directory` a git tree of the kernel with the patch series as commits.

    Raises KlocError if it exists and is not an empty directory, or if a patch does not apply.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise KlocError(f"{directory} already exists", hint="choose a new directory for the tree")
    source = repository()
    directory.mkdir(parents=True, exist_ok=True)
    with progress.estimated("checking out the kernel", seconds=20):
        binds = [Bind(source, REPOSITORY), Bind(directory, TREE)]
        _git(["clone", "--quiet", "--origin", BASE, str(REPOSITORY), "."], binds)
        _git(["remote", "remove", BASE], binds)
    _commit_new_files(directory)
    _commit_patches(directory)


def export(directory: Path) -> None:
    """Rewrite kernel/files and kernel/patches from the commits of the git tree `directory`.

    Raises KlocError if `checkout` did not make the tree, or if it has uncommitted changes.
    """
    binds = [Bind(directory, TREE)]
    _check_tree(directory, binds)
    find = ["log", "--format=", "--diff-filter=A", "--no-renames", "--name-only"]
    added = _lines([*find, f"{BASE}..HEAD"], binds)
    new = sorted({Path(name) for name in added if (directory / name).is_file()})
    _export_new_files(directory, new)
    with tempfile.TemporaryDirectory(dir=cache.directory()) as drafts:
        others = [f":(exclude){name}" for name in sorted(set(added))]
        command = ["format-patch", *FORMAT, f"--output-directory={PATCHES}", BASE, "--", "."]
        _git([*command, *others], [*binds, Bind(Path(drafts), PATCHES)])
        _export_patches(Path(drafts))


def repository() -> Path:
    """Return a bare repository with Debian's source as its only commit, made on first use."""
    linux = kernel_source.unpatched_source()
    entry = cache.build("linux-repository", linux.parent.name, lambda draft: _import(linux, draft))
    return entry / "linux.git"


def _import(linux: Path, draft: Path) -> None:
    repository = draft / "linux.git"
    repository.mkdir()
    binds = [Bind(linux, TREE), Bind(repository, REPOSITORY)]
    git = ["--git-dir", str(REPOSITORY), "--work-tree", str(TREE)]
    one_pack = ["-c", "core.bigFileThreshold=1", "-c", "core.compression=1"]
    version = root.tool_root().versions()["linux-source"]
    with progress.estimated("importing the kernel source into git", seconds=45):
        _git(["init", "--quiet", "--bare", "--initial-branch=kloc", str(REPOSITORY)], binds)
        _git([*git, *one_pack, "add", "--all", "--force", "."], binds)
        _ignore_less(linux, git, binds)
        _git([*git, "commit", "--quiet", f"--message=Linux as in Debian's {version}"], binds)
        _git([*git, "tag", BASE], binds)


def _ignore_less(linux: Path, git: Sequence[str], binds: Sequence[Bind]) -> None:
    """Commit .gitignore without Debian's part.

    That part ignores all files that Linux does not have, so that `git add --all` would leave new
    files out, and the export would, too.
    """
    ours = (linux / ".gitignore").read_text().partition(DEBIAN_IGNORES)[0]
    ours = ours.rstrip("#\n") + "\n"
    blob = _git([*git, "hash-object", "-w", "--stdin"], binds, stdin=ours).strip()
    _git([*git, "update-index", "--cacheinfo", f"100644,{blob},.gitignore"], binds)


def _commit_new_files(directory: Path) -> None:
    shutil.copytree(kernel_source.KERNEL / "files", directory, dirs_exist_ok=True)
    binds = [Bind(directory, TREE)]
    _git(["add", "--force", *map(str, kernel_source.new_files())], binds)
    _git(["commit", "--quiet", "--message=kloc: the new files"], binds)


def _commit_patches(directory: Path) -> None:
    for patch in kernel_source.patches():
        command = ["am", "--quiet", "--keep-non-patch", "--committer-date-is-author-date"]
        try:
            _git(command, [Bind(directory, TREE)], stdin=patch.read_text())
        except KlocError as error:
            raise KlocError(
                f"{patch.name} does not apply: {error.message}",
                hint=f"fix it in {directory}, run git am --continue, then apply the other patches",
            ) from error


def _check_tree(directory: Path, binds: Sequence[Bind]) -> None:
    if not (directory / ".git").is_dir():
        raise KlocError(f"{directory} is not a git tree", hint="make one with kloc kernel checkout")
    if not _lines(["tag", "--list", BASE], binds):
        raise KlocError(
            f"{directory} has no tag '{BASE}': kloc kernel checkout did not make it",
            hint="tag the commit of Debian's unpatched source, or make a new tree",
        )
    if changes := _lines(["status", "--porcelain", "--untracked-files=no"], binds):
        raise KlocError(
            f"{directory} has changes that are not committed:\n" + "\n".join(changes),
            hint="commit or revert them",
        )


def _export_new_files(directory: Path, new: Sequence[Path]) -> None:
    files = kernel_source.KERNEL / "files"
    for name in {*kernel_source.new_files(), *new}:
        kernel_source.update_file(directory / name, files / name)
    for empty in sorted((path for path in files.rglob("*") if path.is_dir()), reverse=True):
        if not any(empty.iterdir()):
            empty.rmdir()


def _export_patches(drafts: Path) -> None:
    directory = kernel_source.KERNEL / "patches"
    new = {draft.name: INDEX.sub("", draft.read_text()) for draft in drafts.glob("*.patch")}
    old = {path.name: path.read_text() for path in directory.glob("*.patch")}
    for name in old.keys() - new.keys():
        (directory / name).unlink()
    for name, text in new.items():
        # Debian's next version moves most hunks. That alone is no change of the patch.
        if name not in old or _change(old[name]) != _change(text):
            write_text(directory / name, text)
    write_text(directory / "series", "".join(f"{name}\n" for name in sorted(new)))


def _change(patch: str) -> str:
    """Return a patch without what depends on the version of the source that it was made from."""
    return HUNK.sub(r"@@ \1 \2", INDEX.sub("", patch))


def _lines(argv: Sequence[str], binds: Sequence[Bind]) -> list[str]:
    return _git(argv, binds).splitlines()


def _git(argv: Sequence[str], binds: Sequence[Bind], stdin: str = "") -> str:
    """Run the tool root's git in the tree, so that its version is the same on every host."""
    return root.tool_root().run(["git", *argv], binds=binds, cwd=TREE, env=IDENTITY, stdin=stdin)
