# SPDX-License-Identifier: GPL-2.0
"""What policies set on a server."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kloc.base import paths
from kloc.base.errors import KlocError, UsageError
from kloc.machine import profile
from kloc.measure import policy
from kloc.server import policy_files


@pytest.mark.parametrize("name", policy.names())
def test_a_server_gets_what_a_machine_of_full_size_gets(name: str) -> None:
    full = msgspec.structs.replace(profile.load("tiered"), scale=1)
    served = policy_files.load(name)
    in_machine = policy.load(name)
    assert served.values == in_machine.settings("", full)
    assert served.summary == in_machine.summary
    assert served.parameters == in_machine.parameters
    if policy.SELECTED in served.values:
        assert list(served.values)[-1] == policy.SELECTED


def test_all_policies_are_found() -> None:
    assert set(policy_files.names()) <= set(policy.names())
    assert {path.stem for path in paths.shipped("policies").glob("*.toml")} <= set(
        policy_files.names()
    )
    assert policy_files.load("kloc").of_kernel == "kloc"
    assert policy_files.load("tpp").of_kernel is None


def test_policies_that_move_pages_are_known() -> None:
    moves = {name for name in policy_files.names() if policy_files.load(name).moves}
    assert {"kloc", "kloc-slab", "tpp", "thermostat", "autotiering-opm"} < moves
    assert not {"stock", "naive", "dram-first"} & moves


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("all-fast", "timing of memory"),
        ("oracle", "timing of memory"),
        ("damon-tier", "kloc scheme apply"),
        ("prcl", "timing of memory"),
        ("kloc", ""),
        ("kloc-slab", ""),
        ("stock", ""),
    ],
)
def test_policies_of_the_machine_say_why_a_server_cannot_have_them(name: str, reason: str) -> None:
    assert (reason in policy_files.load(name).elsewhere) and bool(reason) == bool(
        policy_files.load(name).elsewhere
    )


def test_an_unknown_policy_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'kloc'"):
        policy_files.load("klock")


def test_a_file_that_is_not_toml_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(policy_files, "FOLDER", tmp_path)
    (tmp_path / "bad.toml").write_text("[set\n")
    with pytest.raises(KlocError, match=r"bad\.toml is not TOML: .*line 1"):
        policy_files.load("bad")
