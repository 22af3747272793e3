# SPDX-License-Identifier: GPL-2.0
"""The packages of src/kloc form layers: a module imports from its own layer or a lower one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT

SOURCE = PROJECT / "src" / "kloc"

ALLOWED = {
    "base": {"base"},
    "build": {"base", "build"},
    "machine": {"base", "build", "machine"},
    "measure": {"base", "build", "machine", "schemes", "heat", "measure"},
    "results": {"base", "build", "machine", "schemes", "heat", "measure", "results"},
    "server": {"base", "server"},
    "native": {"base", "measure", "results", "server", "native"},
    "schemes": {"base", "schemes"},
    "heat": {"base", "schemes", "heat"},
    "tune": {"base", "schemes", "tune"},
    "commands": {
        *("base", "build", "machine", "measure", "results", "server", "schemes", "heat", "tune"),
        *("native", "commands"),
    },
}
"""The packages that the modules of each package may import."""


def imported(path: Path) -> Iterator[str]:
    """Yield the packages of kloc that the module at `path` imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "kloc":
            # The version is that of the whole, and in no layer.
            names = [f"kloc.{alias.name}" for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        yield from (name.split(".")[1] for name in names if name.startswith("kloc."))


def test_every_package_has_a_layer() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages == set(ALLOWED)


@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_no_layer_above_it(package: str) -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports kloc.{name}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        for name in imported(path)
        if name not in ALLOWED[package]
    ]
    assert not wrong


def test_modules_beside_the_packages_start_kloc() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == {"__init__", "__main__", "cli"}


def test_no_two_packages_may_import_each_other() -> None:
    for package, below in ALLOWED.items():
        for other in below - {package}:
            assert package not in ALLOWED[other]


ROOTED = {
    "base/paths.py",
    "base/revision.py",
    "commands/bench.py",
    "commands/bench_tables.py",
    "commands/inventory.py",
    "commands/test.py",
    "build/deb.py",
    "build/kernel_package.py",
}
"""The modules that name the root of the checkout, for what only a checkout has."""


def test_files_of_kloc_are_found_by_one_module() -> None:
    named = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bPROJECT\b", path.read_text())
    }
    assert named == ROOTED
