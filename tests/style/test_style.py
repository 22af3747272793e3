# SPDX-License-Identifier: GPL-2.0
"""The linters: ruff and mypy for Python, checkpatch for kernel files and patches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kloc.base import cache
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build import kernel_source
from kloc.build.root import Bind, Root

SUBMISSION = ["FILE_PATH_CHANGES", "EMAIL_SUBJECT"]
"""Checks for patches mailed to Linux: entries in MAINTAINERS, the subject's prefix."""

TRACE_EVENTS = ["PARENTHESIS_ALIGNMENT", "OPEN_ENDED_LINE"]
"""Checks that every TRACE_EVENT() fails."""


@pytest.mark.parametrize(
    "argv",
    [("ruff", "check", "--no-cache"), ("ruff", "format", "--check", "--no-cache"), ("mypy",)],
    ids=" ".join,
)
def test_python_passes_linters(argv: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *argv],
        cwd=PROJECT,
        env={**os.environ, "MYPY_CACHE_DIR": str(cache.directory() / "mypy")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which checkpatch runs: it leaves a list of names where it is started."""
    return tmp_path_factory.mktemp("checkpatch")


def checkpatch(tools: Root, linux: Path, scratch: Path, ignored: list[str], *argv: str) -> None:
    """Run the kernel's checkpatch.pl without the `ignored` checks; fail with its complaints."""
    ignore = f"--ignore={','.join(ignored)}"
    program = f"{kernel_source.SOURCE}/scripts/checkpatch.pl"
    command = [program, "--strict", "--quiet", ignore, *argv]
    binds = [
        Bind(linux, kernel_source.SOURCE),
        Bind(kernel_source.KERNEL, Path("/build/kernel")),
        scratch,
    ]
    try:
        tools.run(command, binds=binds, cwd=scratch)
    except KlocError as error:
        pytest.fail(error.message)


@pytest.mark.parametrize("patch", kernel_source.patches(), ids=lambda path: path.name)
def test_patch_passes_checkpatch(tools: Root, linux: Path, scratch: Path, patch: Path) -> None:
    traces = "+++ b/include/trace/events/" in patch.read_text()
    ignored = SUBMISSION + (TRACE_EVENTS if traces else [])
    checkpatch(tools, linux, scratch, ignored, f"/build/kernel/patches/{patch.name}")


@pytest.mark.parametrize("traces", [False, True], ids=["others", "trace events"])
def test_kernel_files_pass_checkpatch(
    tools: Root, linux: Path, scratch: Path, traces: bool
) -> None:
    events = Path("include/trace/events")
    names = [name for name in kernel_source.new_files() if (name.parent == events) == traces]
    ignored = SUBMISSION + (TRACE_EVENTS if traces else [])
    paths = [f"/build/kernel/files/{name}" for name in names]
    checkpatch(tools, linux, scratch, ignored, "--file", *paths)
    assert not list(PROJECT.glob(".checkpatch*"))
