# SPDX-License-Identifier: GPL-2.0
"""kloc as a Python package: it is installed without a checkout, and runs without a network."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kloc import cli
from kloc.base import cache, paths, revision
from kloc.base.paths import PROJECT

DATA = ("kernel", "machine", "policies", "schemes", "workloads")
"""The directories of the checkout that the package has, in kloc/data."""

NOBODY = 65534

USR = Path("/usr/bin/python3")
"""Debian's Python, which other users may run; the one of this test may be in somebody's home."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built by pip, which fetches the build system of pyproject.toml."""
    directory = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", f"--wheel-dir={directory}", str(PROJECT))
    (built,) = directory.glob("kloc-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Path]:
    """An environment that had nothing but Python, after `pip install`: where kloc is installed."""
    python = USR if USR.exists() else Path(sys.executable)
    # Not below the cache directory, which may be in a home that others cannot enter.
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="kloc-installed-") as directory:
        Path(directory).chmod(0o755)
        environment = Path(directory) / "env"
        subprocess.run([python, "-m", "venv", "--without-pip", environment], check=True)
        pip(f"--python={environment}", "install", str(wheel))
        yield environment


def pip(*argv: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *argv]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def start(
    installed: Path, directory: Path, argv: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run an installed command as nobody, in another directory, without a network."""
    is_root = os.geteuid() == 0
    apart = ["unshare", "--net", *([] if is_root else ["--map-root-user"]), "--"]
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    return subprocess.run(
        [*apart, *(nobody if is_root else []), *argv],
        env={"HOME": "/nonexistent", "PATH": f"{installed}/bin:/usr/bin:/bin"},
        cwd=directory,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("argv", "status", "out"),
    [
        (["kloc", "--version"], 0, "kloc 0"),
        (["kloc", "--help"], 0, "usage: kloc COMMAND"),
        (["kloc", "compare", "--help"], 0, "usage: kloc compare"),
        (["kloc", "tune", "--help"], 0, "usage: kloc tune"),
        (["kloc", "doctor"], 0, "python"),
        (["kloc", "scheme", "check", "prcl"], 0, "prcl: 1 correct"),
        (["python3", "-m", "kloc", "scheme", "show", "prcl"], 0, "pageout"),
        (["kloc", "completion", "bash"], 0, "kloc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_of_servers_need_no_checkout_and_no_network(
    argv: list[str], status: int, out: str, installed: Path, tmp_path: Path
) -> None:
    done = start(installed, Path("/"), argv)
    assert (done.returncode, done.stderr) == (status, "")
    assert out in done.stdout


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["kloc", "compare", "redis"], "bin/pip install"),
        (["kloc", "tune", "prcl", "--samples", "3", "--", "true"], "scikit-optimize"),
        (["kloc", "policies"], "msgspec=="),
        (["kloc", "test"], "needs a checkout of kloc"),
        (["kloc", "kernel", "package"], "needs a checkout of kloc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_missing_is_named_with_the_remedy(
    argv: list[str], message: str, installed: Path
) -> None:
    done = start(installed, Path("/"), argv)
    assert done.returncode == 1
    assert message in done.stderr


def test_package_has_the_files_of_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """The same content with the same modes, so that what is built from it is the same."""
    with zipfile.ZipFile(wheel) as package:
        package.extractall(tmp_path)
        for member in package.infolist():
            (tmp_path / member.filename).chmod(member.external_attr >> 16)
    listed = ["git", "-C", str(PROJECT), "ls-files", "-z", "--", *DATA, "src/kloc"]
    done = subprocess.run(listed, capture_output=True, text=True, check=True)
    for name in filter(None, done.stdout.split("\0")):
        path = Path(name)
        inside = path.relative_to("src") if path.parts[0] == "src" else Path("kloc/data") / path
        assert cache.key(tmp_path / inside) == cache.key(PROJECT / path), name


def test_package_knows_its_commit(installed: Path) -> None:
    assert start(installed, Path("/"), ["kloc", "--version"]).stdout == f"{cli.version()}\n"


def test_installed_package_has_the_laboratory(installed: Path) -> None:
    (package,) = installed.glob("lib/python*/site-packages/kloc")
    assert {path.name for path in (package / "data").iterdir()} == {*DATA, revision.FILE}
    assert paths.shipped("kernel") == PROJECT / "kernel"
