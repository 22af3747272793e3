# SPDX-License-Identifier: GPL-2.0
"""kloc's own commands are in a guest if its job asks for them, and need only Python and rich."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from kloc import cli, commands
from kloc.base import terminal
from kloc.commands import parser, run, shell
from kloc.machine import guest_commands, launcher
from kloc.machine.job import Job

SERVER_COMMANDS = (
    *("on", "off", "policy", "limit", "config"),
    *("status", "metrics", "top", "exec", "choose", "release", "scheme", "heatmap"),
    "compare --native",
)
RICH = ("rich", "markdown_it", "mdurl", "pygments")
"""The modules of Debian's python3-rich and of the packages that it depends on."""


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that would have been run."""
    started: list[Job] = []

    def interrupt(job: Job, *_: Any) -> None:
        started.append(job)
        raise KeyboardInterrupt

    for module in (run, shell):
        monkeypatch.setattr(module, "prepare_parts", lambda *_, **__: None)
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{name}.isatty", lambda: True, raising=False)
    monkeypatch.setattr(launcher, "run", interrupt)
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    terminal.stderr.cache_clear()
    return started


@pytest.mark.parametrize(
    ("argv", "installed"),
    [
        (["run", "--", "true"], False),
        (["run", "--", "sh", "-c", "kloc status"], False),
        (["run", "--with-kloc", "--", "sh", "-c", "kloc status"], True),
        (["run", "--", "kloc", "status"], True),
        (["shell"], True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_are_installed_if_they_are_asked_for(
    argv: list[str], installed: bool, jobs: list[Job]
) -> None:
    cli.main(argv)
    (job,) = jobs
    assert job.commands == installed
    assert job.packages == (guest_commands.PACKAGES if installed else ())


def test_commands_cannot_be_added_to_workloads(
    capsys: pytest.CaptureFixture[str], jobs: list[Job]
) -> None:
    assert cli.main(["run", "redis", "--with-kloc"]) == parser.USAGE_STATUS
    assert "--with-kloc" in capsys.readouterr().err
    assert not jobs


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that the module at `path` imports, in its functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_closure(source: Path, modules: list[str]) -> set[tuple[str, str]]:
    """Return (importer, imported) for all that these modules of kloc import, also indirectly."""
    found: set[tuple[str, str]] = set()
    pending, done = list(modules), set[str]()
    while pending:
        name = pending.pop()
        # A package is imported with each of its modules; a name may also be a function's.
        parent = name.rpartition(".")[0]
        path = source / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in done or not name:
            continue
        done.add(name)
        pending.append(parent)
        if path.exists():
            found.update((name, imported) for imported in imports(path))
            pending += [imported for imported in imports(path) if imported.startswith("kloc.")]
    return found


def test_server_commands_import_only_the_standard_library_and_rich(tmp_path: Path) -> None:
    package = guest_commands.write_files(tmp_path)["/kloc/src/kloc"]
    (tmp_path / "kloc").symlink_to(package)
    chosen = [one.module for one in commands.ALL if one.name in SERVER_COMMANDS]
    assert len(chosen) == len(SERVER_COMMANDS)
    modules = ["kloc.__main__", *chosen]
    closure = import_closure(tmp_path, modules)
    importers = {importer for importer, _ in closure}
    assert {"kloc.cli", "kloc.server.contexts", "kloc.base.terminal"} <= importers
    outside = {
        (importer, imported)
        for importer, imported in closure
        if imported.partition(".")[0] not in {*sys.stdlib_module_names, "kloc", "rich"}
    }
    # Only for the completion of a shell, to read stored heat maps and results and to plot the
    # former, and for metrics.
    outside = {one for one in outside if not one[1].startswith("prometheus_client.")}
    assert outside <= {
        ("kloc.base.plots", "matplotlib"),
        ("kloc.base.plots", "matplotlib.pyplot"),
        ("kloc.heat.records", "msgspec"),
        ("kloc.results.schema", "msgspec"),
        ("kloc.cli", "argcomplete"),
        ("kloc.commands.completers", "argcomplete.completers.FilesCompleter"),
    }


@pytest.mark.parametrize("command", SERVER_COMMANDS)
def test_server_commands_start_without_other_packages(command: str, tmp_path: Path) -> None:
    files = guest_commands.write_files(tmp_path)
    package = files["/kloc/src/kloc"]
    assert not list(package.rglob("__pycache__"))
    assert os.access(files["/usr/local/bin/kloc"], os.X_OK)
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "kloc").symlink_to(package)
    for name in RICH:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None
        (modules / name).symlink_to(Path(spec.origin).parent)
    # -S leaves out site-packages.
    done = subprocess.run(
        [sys.executable, "-S", "-m", "kloc", *command.split(), "--help"],
        env={"PYTHONPATH": str(modules), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"kloc {command}" in done.stdout
