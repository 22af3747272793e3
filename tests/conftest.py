# SPDX-License-Identifier: GPL-2.0
"""Fixtures of all tests: what is built once a session, an empty cache; and parts of long tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kloc.base import cache, paths
from kloc.build import kernel, kernel_source, plugin, root
from kloc.machine import launcher
from support import soak

SOAK_SECONDS = 2 * 3600
"""How long a test with the mark `soak` may take, with the kernels that are built for it.

pyproject.toml has the time of all others.
"""


NO_FILES = Path("/nonexistent")
"""A directory of policies, workloads and machines that does not exist."""

STAGE_SECONDS = 1500
"""How long a stage of a machine may take: a machine that hangs shows its console, a test does not.

Tests that take long have their own.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which `kloc test --soak --part N/M` chooses tests."""
    parser.addoption("--part", metavar="N/M", help="of the tests that take long, part N of M")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse an impossible --part before tests are collected; hide the user's own files."""
    _part(config)
    os.environ["XDG_CONFIG_HOME"] = str(NO_FILES)
    paths.SYSTEM = NO_FILES


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the line about the part of the tests that runs."""
    part = _part(config)
    if part is None:
        return None
    return f"part {config.getoption('part')}: about {soak.duration(part):.0f} minutes on two cores"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part that --part names, if any; tests that take long have longer."""
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(SOAK_SECONDS))
    part = _part(config)
    if part is None:
        return
    kept = [item for item in items if soak.piece(item.nodeid) in part]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _part(config: pytest.Config) -> list[str] | None:
    """Return the pieces of the part that --part names, None without the option."""
    if config.getoption("part") is None:
        return None
    number, count = map(int, config.getoption("part").split("/"))
    try:
        return soak.split(soak.MINUTES, count)[number - 1]
    except ValueError as error:
        raise pytest.UsageError(f"--part {number}/{count}: {error}") from error


@contextmanager
def _output_shown(request: pytest.FixtureRequest) -> Iterator[None]:
    """Show the output of the block, which may take minutes, instead of capturing it."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        yield


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> root.Root:
    """The tool root."""
    with _output_shown(request):
        return root.tool_root()


@pytest.fixture(scope="session")
def linux(request: pytest.FixtureRequest, tools: root.Root) -> Path:
    """The directory of Debian's kernel source without our changes."""
    with _output_shown(request):
        return kernel_source.unpatched_source()


@pytest.fixture(scope="session")
def machine_kernel(request: pytest.FixtureRequest, tools: root.Root) -> kernel.Kernel:
    """The machine's kernel."""
    with _output_shown(request):
        return kernel.build()


@pytest.fixture(scope="session")
def model(request: pytest.FixtureRequest, tools: root.Root) -> Path:
    """The timing model, model.so."""
    with _output_shown(request):
        return plugin.build()


@pytest.fixture(autouse=True)
def _output_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no variables that tell what the terminal is like: tests compare output as in a file."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _machines_end_before_tests(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a machine that hangs fail before the test's own time is up."""
    if not request.node.get_closest_marker("soak"):
        monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", STAGE_SECONDS)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory, in use during the test."""
    # Restored as it was: a directory that is chosen wins over the environment of later tests.
    monkeypatch.setattr(cache, "_chosen_directory", tmp_path / "cache")
    return cache.directory()
