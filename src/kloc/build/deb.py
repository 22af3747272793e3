# SPDX-License-Identifier: GPL-2.0
"""Builds the Debian package `kloc` in a Debian root with debhelper: see packaging/debian.

Its version has the time and the hash of the commit that is checked out, so that apt upgrades to the
package of a later commit.
"""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from kloc import __version__
from kloc.base import cache, checkout, paths, progress, revision
from kloc.base.errors import KlocError
from kloc.build import apt_sources, bootstrap, root
from kloc.build.root import Bind, Root

PACKAGES = (
    "bash-completion",
    "debhelper",
    "dh-python",
    "help2man",
    "lintian",
    "pybuild-plugin-pyproject",
    "python3-all",
    "python3-argcomplete",
    "python3-hatchling",
    "python3-rich",
)
"""What builds and checks the package."""

SOURCES = (
    *("COPYING", "README.md", "hatch_build.py", "pyproject.toml"),
    *("docs", "kernel", "machine", "packaging", "policies", "schemes", "src", "workloads"),
)
"""The files and directories of the checkout that the package is built from."""

BUILD, TREE = Path("/build"), "kloc"
"""Paths inside the root; dpkg-buildpackage writes beside the tree that it builds."""

CHANGELOG = """\
kloc ({version}) unstable; urgency=medium

  * The commands for servers.

 -- kloc maintainers <maintainers@kloc.example>  {date}
"""

TIME = "%Y%m%d.%H%M%S"
"""The format of times in versions, in UTC."""

LINTIAN = ("lintian", "--allow-root", "--fail-on=error,warning")


def packaging_root() -> Root:
    """Return the root that builds Debian packages, made on first use (about two minutes)."""
    key = cache.key(apt_sources.SUITE, *PACKAGES)
    return Root(cache.build("packaging", key, _make_root) / "tree", key)


def version() -> str:
    """Return the package's version: 0.1+git20261130.062254.c7d58bc.

    The time is that of the commit. If files of the package differ from the commit, +modified and
    the present time follow: the version then sorts after earlier builds, and before the next
    commit. Raises KlocError if kloc is not in a clone.
    """
    commit = checkout.commit(paths.PROJECT)[: checkout.SHORT]
    of_commit = f"{__version__}+git{_commit_time():{TIME}}.{commit}"
    if not checkout.is_modified(paths.PROJECT, *SOURCES):
        return of_commit
    return f"{of_commit}+modified{datetime.now(UTC):{TIME}}"


def file_name(version: str) -> str:
    """Return the name of the package's file."""
    return f"kloc_{version}_all.deb"


def build(directory: Path) -> Path:
    """Build the package from the checkout, write it to `directory`, and return its path.

    Raises KlocError, with the last lines of the messages, if it cannot be built, or if lintian
    finds a mistake in it.
    """
    tools = packaging_root()
    with cache.scratch("package") as scratch:
        copy_sources(scratch / TREE)
        binds = [Bind(scratch, BUILD)]
        argv = ["dpkg-buildpackage", "--no-check-builddeps", "--build=binary", "--no-sign"]
        with progress.estimated("building the package kloc", seconds=20):
            tools.run(argv, binds=binds, cwd=BUILD / TREE, env={"DEB_BUILD_OPTIONS": "nocheck"})
        (built,) = scratch.glob(file_name("*"))
        with progress.estimated("checking the package kloc", seconds=10):
            tools.run([*LINTIAN, str(BUILD / built.name)], binds=binds)
        target = directory / built.name
        try:
            directory.mkdir(parents=True, exist_ok=True)
            shutil.copy(built, target)
        except OSError as error:
            raise KlocError(
                f"cannot write {target}: {error.strerror}", "choose another directory"
            ) from error
    return target


def copy_sources(tree: Path) -> None:
    """Copy what the package is built from to `tree`: files that git knows, or would add."""
    listed = ["git", "-C", str(paths.PROJECT), "-c", f"safe.directory={paths.PROJECT}"]
    listed += ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    try:
        done = subprocess.run(listed, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise KlocError(
            f"git cannot list the files of {paths.PROJECT}", "build the package in a clone"
        ) from error
    for name in filter(None, done.stdout.split("\0")):
        source = paths.PROJECT / name
        if source.exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / name)
    shutil.copytree(tree / "packaging" / "debian", tree / "debian")
    changelog = CHANGELOG.format(version=version(), date=format_datetime(_commit_time()))
    (tree / "debian" / "changelog").write_text(changelog)
    if revision.commit() != revision.UNKNOWN:
        (tree / revision.FILE).write_text(f"{revision.commit()}\n")


def _commit_time() -> datetime:
    """Return when the commit that is checked out was made."""
    return datetime.fromtimestamp(checkout.changed_at(paths.PROJECT), UTC)


def _make_root(draft: Path) -> None:
    root.check_namespaces()
    tar = draft / "root.tar"
    bootstrap.bootstrap("the Debian root that builds packages", PACKAGES, tar, seconds=120)
    root.unpack(tar, draft)
