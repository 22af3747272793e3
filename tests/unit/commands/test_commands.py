# SPDX-License-Identifier: GPL-2.0
"""The list of commands."""

import ast
import tomllib
from pathlib import Path

import pytest

from kloc import cli, commands
from kloc.base import environment, paths
from kloc.base.errors import KlocError, UsageError
from kloc.base.paths import PROJECT

PACKAGE = Path(commands.__file__).parent


def defines_run(path: Path) -> bool:
    tree = ast.parse(path.read_text())
    return any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body)


def test_every_module_that_can_run_is_a_command() -> None:
    modules = {f"kloc.commands.{path.stem}" for path in PACKAGE.glob("*.py") if defines_run(path)}
    assert modules == {command.module for command in commands.ALL}


def test_names_are_unique() -> None:
    names = [command.name for command in commands.COMMANDS]
    assert len(set(names)) == len(names)


def test_every_group_has_commands() -> None:
    assert {command.group for command in commands.COMMANDS} == set(commands.GROUPS)


def test_needs_are_extras_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    needs = {extra for command in commands.COMMANDS for extra in command.needs}
    # `kloc tune` asks for its own once it knows the optimizer; the others are for installations.
    asked = {"curve", "tune", "pinned", "lab", "metrics"}
    assert needs | asked == set(project["optional-dependencies"])


def test_extras_pin_the_same_version_of_a_package() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = dict(project["optional-dependencies"])
    assert extras.pop("lab") == ["kloc[pinned,measure,tune]"]
    pins = {pin for packages in extras.values() for pin in packages}
    assert all("==" in pin for pin in pins)
    assert len({pin.partition("==")[0] for pin in pins}) == len(pins)


def test_what_all_commands_need_is_pinned_for_the_launcher() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    pinned = {pin.partition("==")[0] for pin in project["optional-dependencies"]["pinned"]}
    assert {needed.partition(">=")[0] for needed in project["dependencies"]} <= pinned


@pytest.mark.parametrize("command", commands.ALL, ids=lambda command: command.name)
def test_every_command_has_help_usage_description_and_examples(command: commands.Command) -> None:
    module = command.load()
    assert command.help and command.help[0].islower() and not command.help.endswith(".")
    assert module.DESCRIPTION.strip().endswith(".")
    assert module.USAGE
    assert module.EXAMPLES


def test_commands_are_found_by_name() -> None:
    assert commands.find("what-if").name == "what-if"


def test_an_option_chooses_another_form_of_a_command() -> None:
    compare = commands.find("compare")
    assert compare.chosen(["redis", "--dry-run"]) is compare
    native = compare.chosen(["redis", "--native"])
    assert native.module == "kloc.commands.compare_native"
    assert (native.needs, native.check) == ((), None)
    assert commands.find("run").chosen(["--native"]) is commands.find("run")


@pytest.mark.parametrize(
    "argv",
    [
        ("kernel", "package", "--dry-run"),
        ("kernel", "export", "linux"),
        ("pins", "--update"),
        ("bench", "tables"),
        ("package",),
    ],
    ids=" ".join,
)
def test_a_missing_checkout_is_named_before_packages_are_installed(
    argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def install(*_: str) -> None:
        pytest.fail("packages would be installed")

    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "kloc")
    monkeypatch.setattr(environment, "require", install)
    with pytest.raises(KlocError, match=f"kloc {argv[0]}.* needs a checkout"):
        cli.parse(argv)


def test_unknown_command_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown command 'stats'.*'status'"):
        commands.find("stats")
    with pytest.raises(UsageError, match=r"^unknown command 'zzzzz'$"):
        commands.find("zzzzz")
