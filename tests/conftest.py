# SPDX-License-Identifier: GPL-2.0
"""What several tests need: things built once, with their progress shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.build import kernel, kernel_source, plugin, root


@contextmanager
def _seen(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the person see what the block says, which may take minutes."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        yield


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> root.Root:
    with _seen(request):
        return root.tool_root()


@pytest.fixture(scope="session")
def linux(request: pytest.FixtureRequest, tools: root.Root) -> Path:
    """Debian's kernel source."""
    with _seen(request):
        return kernel_source.unpatched_source()


@pytest.fixture(scope="session")
def machine_kernel(request: pytest.FixtureRequest, tools: root.Root) -> kernel.Kernel:
    with _seen(request):
        return kernel.build()


@pytest.fixture(scope="session")
def model(request: pytest.FixtureRequest, tools: root.Root) -> Path:
    """The timing model, model.so."""
    with _seen(request):
        return plugin.build()


@pytest.fixture
def empty_cache(tmp_path: Path) -> Iterator[Path]:
    """A cache folder with nothing in it."""
    real = cache.directory()
    cache.use_directory(tmp_path / "cache")
    yield cache.directory()
    cache.use_directory(real)
