# SPDX-License-Identifier: GPL-2.0
"""The installation of Python packages from pyproject.toml."""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kloc.base import environment
from kloc.base.errors import KlocError


@pytest.fixture(autouse=True)
def prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment of kloc's own, without optional dependencies."""
    (tmp_path / "ready").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def replace_pip(monkeypatch: pytest.MonkeyPatch, status: int, output: str = "") -> list[list[str]]:
    """Replace pip by one that ends with `status`; return the list of its calls."""
    calls: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(argv)
        return subprocess.CompletedProcess(argv, status, output)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_installed_extra_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = replace_pip(monkeypatch, status=0)
    assert not environment.has("dev")
    assert environment.install("dev") == ""
    assert environment.has("dev")
    (argv,) = calls
    assert any(argument.startswith("pytest==") for argument in argv)


def test_environment_without_extras_is_installed_first(
    monkeypatch: pytest.MonkeyPatch, prefix: Path
) -> None:
    (prefix / "ready").unlink()
    calls = replace_pip(monkeypatch, status=0)
    assert environment.install() == ""
    (argv,) = calls
    assert (prefix / "ready").exists()
    assert any(argument.startswith("rich==") for argument in argv)


def test_failure_returns_the_last_lines_and_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace_pip(monkeypatch, status=1, output="".join(f"line {number}\n" for number in range(100)))
    output = environment.install("dev").splitlines()
    assert output[-1] == "line 99"
    assert len(output) == environment.LAST_LINES
    assert not environment.has("dev")


def test_required_extra_is_installed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = replace_pip(monkeypatch, status=0)
    environment.require("dev", "kloc test")
    environment.require("dev", "kloc test")
    assert len(calls) == 1


def test_two_processes_install_an_extra_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = replace_pip(monkeypatch, status=0)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: environment.require("dev", "kloc test"), range(4)))
    assert len(calls) == 1


def test_failed_installation_is_reported_with_pips_output(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_pip(monkeypatch, status=1, output="no network\n")
    with pytest.raises(KlocError, match=r"kloc test(?s:.*)no network"):
        environment.require("dev", "kloc test")
    assert not environment.has("dev")


def test_environment_of_others_is_not_changed(
    monkeypatch: pytest.MonkeyPatch, prefix: Path, tmp_path: Path
) -> None:
    (prefix / "ready").unlink()
    calls = replace_pip(monkeypatch, status=0)
    project = tmp_path / "pyproject.toml"
    monkeypatch.setattr(environment, "PYPROJECT", project)
    optional = '[project.optional-dependencies]\nhere = ["rich==1"]\nthere = ["no-such-package==1"]'
    project.write_text(optional)
    environment.require("here", "kloc test")
    assert environment.has("here") and not environment.has("there")
    with pytest.raises(KlocError, match="no-such-package") as refused:
        environment.require("there", "kloc test")
    assert "./kloc" in str(refused.value.hint)
    assert not calls


def test_machine_without_a_checkout_names_the_commands_that_work(
    monkeypatch: pytest.MonkeyPatch, prefix: Path, tmp_path: Path
) -> None:
    (prefix / "ready").unlink()
    install(monkeypatch, tmp_path, None)
    with pytest.raises(KlocError, match="kloc compare needs a checkout") as refused:
        environment.require("measure", "kloc compare")
    assert "kloc status" in str(refused.value.hint)


def install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, requires: Sequence[str] | None
) -> None:
    """Let kloc be installed with these requirements, or with None copied somewhere."""

    monkeypatch.setattr(environment, "PYPROJECT", tmp_path / "pyproject.toml")
    monkeypatch.setattr(environment, "DISTRIBUTION", "kloc-of-the-test")
    if requires is not None:
        directory = tmp_path / "packages" / "kloc_of_the_test-1.dist-info"
        directory.mkdir(parents=True)
        listed = "".join(f"Requires-Dist: {one}\n" for one in requires)
        (directory / "METADATA").write_text(f"Name: kloc-of-the-test\nVersion: 1\n{listed}")
        monkeypatch.syspath_prepend(directory.parent)


REQUIRES = (
    "rich>=13.3",
    "no-such-package==1; extra == 'curve'",
    "no-such.other>=2,<3 ; extra == 'curve'",
    'rich==1; extra == "files"',
    "no-such-oddity==1; extra == 'tune'",
    "kloc[curve]; extra == 'lab'",
)


def test_installed_package_says_how_to_install_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, REQUIRES)
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    calls = replace_pip(monkeypatch, status=0)
    environment.require("files", "kloc policies")
    with pytest.raises(KlocError, match=r"lacks: no-such-package, no-such\.other$") as refused:
        environment.require("curve", "kloc tune")
    asked = f"{sys.prefix}/bin/pip install no-such-package==1 no-such.other>=2,<3"
    assert asked in str(refused.value.hint)
    (tmp_path / environment.PIPX).touch()
    with pytest.raises(KlocError) as refused:
        environment.require("curve", "kloc tune")
    assert "pipx inject kloc no-such-package==1" in str(refused.value.hint)
    assert not calls


def test_packages_of_debian_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, REQUIRES)
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setattr(environment, "NOT_IN_DEBIAN", {"no-such-oddity"})
    with pytest.raises(KlocError) as refused:
        environment.require("curve", "kloc tune")
    assert "apt install python3-no-such-package" in str(refused.value.hint)
    with pytest.raises(KlocError) as refused:
        environment.require("tune", "kloc tune")
    assert "Debian has no no-such-oddity" in str(refused.value.hint)
    assert "apt" not in str(refused.value.hint)


def test_full_disk_is_no_fault_of_the_network(
    monkeypatch: pytest.MonkeyPatch, prefix: Path
) -> None:
    error = "ERROR: Could not install packages: [Errno 28] No space left on device"
    replace_pip(monkeypatch, status=1, output=error)
    with pytest.raises(KlocError, match="no space left on ") as failed:
        environment.require("dev", "kloc test")
    assert "network" not in (failed.value.hint or "")


def test_cache_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from kloc.base import cache

    monkeypatch.setattr(cache, "is_writable", lambda: False)
    monkeypatch.setattr(environment, "install", lambda _: pytest.fail("installed"))
    with pytest.raises(KlocError, match="has no Python packages of kloc test"):
        environment.require("dev", "kloc test")
