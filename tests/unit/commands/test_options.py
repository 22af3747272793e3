# SPDX-License-Identifier: GPL-2.0
"""The options that measuring commands share."""

from __future__ import annotations

import argparse
import errno
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import completers, options
from kloc.measure import policy, workload
from support.command import parse


def test_options_mean_the_same_in_all_commands() -> None:
    shared = ["--policy", "stock", "--machine", "cxl", "--packages", "a, b,", "--copy", "/bin/sh"]
    for command in ("run", "shell"):
        args = parse(command, *shared)
        assert (args.policy, args.machine, args.packages) == ("stock", "cxl", ("a", "b"))
        assert options.copies(args) == (Path("/bin/sh"),)
    assert parse("policies", "--machine", "cxl").machine == "cxl"


@pytest.mark.parametrize("command", ["run", "compare", "what-if"])
@pytest.mark.parametrize(
    ("argv", "size"),
    [((), workload.FULL), (("--quick",), workload.QUICK), (("--long",), workload.LONG)],
)
def test_size_is_full_unless_an_option_changes_it(
    command: str, argv: tuple[str, ...], size: workload.Size
) -> None:
    assert options.size(parse(command, "redis", *argv)) == size


def test_default_policy_is_kloc_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.stderr.cache_clear()
    assert options.chosen_policy(argparse.Namespace(policy=None)).name == "kloc"
    message = capsys.readouterr().err
    assert "policy kloc" in message and "--policy" in message
    assert options.chosen_policy(argparse.Namespace(policy="tpp")).name == "tpp"
    assert options.chosen_policy(argparse.Namespace(policy="kloc")).name == "kloc"
    assert capsys.readouterr().err == ""


def test_default_policy_of_another_kernel_is_one_that_every_kernel_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal.stderr.cache_clear()
    args = argparse.Namespace(policy=None, kernel="linux-image-amd64")
    assert options.chosen_policy(args).name == "stock"
    assert "policy stock (default with --kernel" in capsys.readouterr().err
    args.policy = "tpp"
    assert options.chosen_policy(args).name == "tpp"


def test_a_kernel_is_checked_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert options.kernel(parse("run", "redis")) is None
    image = tmp_path / "bzImage"
    image.touch()
    with pytest.raises(KlocError, match="is not a bzImage"):
        options.kernel(parse("run", "redis", "--kernel", str(image)))
    monkeypatch.setattr(options.foreign_kernel, "release_of", lambda _: "6.12.1")
    for name in ("linux-image-amd64", str(image)):
        assert options.kernel(parse("compare", "redis", "--kernel", name)) == name
    with pytest.raises(KlocError, match="missing is not a file"):
        options.kernel(parse("run", "redis", "--kernel", f"{tmp_path}/missing"))


def test_machines_are_all_combinations_without_duplicates() -> None:
    args = argparse.Namespace(
        machine="tiered",
        fast=(Fraction(1, 2), Fraction(1), Fraction(1, 2)),
        slow_bandwidth=(Fraction(1, 8), Fraction(1, 4)),
    )
    assert {machine.variant for machine in options.machines(args)} == {
        "",
        "fast x 1/2",
        "slow bandwidth 1/4",
        "fast x 1/2, slow bandwidth 1/4",
    }
    assert len(options.machines(args)) == 4


def test_one_variant_is_one_machine() -> None:
    args = parse("run", "redis", "--fast", "2")
    assert options.machine(args).variant == "fast x 2"


def test_path_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KlocError, match="/no/such does not exist"):
        options.existing(Path("/no/such"))


def test_path_without_access_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(path: Path, **_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(KlocError, match="/closed/file: Permission denied") as refused:
        options.existing(Path("/closed/file"))
    assert refused.value.hint


def test_refused_options_are_named_as_the_user_writes_them() -> None:
    args = argparse.Namespace(with_kloc=True, quick=True, copy=[])
    options.refuse(args, {"copy": []}, "reason", "hint")
    with pytest.raises(UsageError, match=r"^--with-kloc, --quick: reason$") as refused:
        options.refuse(args, {"copy": [], "with_kloc": False, "quick": False}, "reason", "hint")
    assert refused.value.hint == "hint"


def test_names_are_completed_after_the_last_comma() -> None:
    action = argparse.Action([], "x")
    completers.complete_names(action, policy.names)
    complete: Any = action.completer  # type: ignore[attr-defined]
    assert "tpp" in complete("")
    assert "stock,tpp" in complete("stock,t")
