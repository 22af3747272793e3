# SPDX-License-Identifier: GPL-2.0
"""Fixtures of all tests: what is built once a session, and an empty cache."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.build import kernel, kernel_source, plugin, root


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


@pytest.fixture
def empty_cache(tmp_path: Path) -> Iterator[Path]:
    """An empty cache directory, in use during the test."""
    original = cache.directory()
    cache.use_directory(tmp_path / "cache")
    yield cache.directory()
    cache.use_directory(original)
