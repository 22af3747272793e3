# SPDX-License-Identifier: GPL-2.0
"""Where kloc finds its files, and those of users."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.base import paths
from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.schemes import text


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's directory of configuration; the system's is tmp_path/etc."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(paths, "SYSTEM", tmp_path / "etc")
    workload.registry.cache_clear()
    return tmp_path / "config" / "kloc"


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


WORKLOAD = """\
from kloc.measure.workload import Outcome, Workload

def workloads():
    return [
        Workload(name, "", (), None, None, None, lambda *_: Outcome(1, None), programs=("a.c",))
        for name in NAMES
    ]
"""


def test_checkout_has_all_files() -> None:
    assert paths.is_checkout() and paths.has_laboratory()
    assert paths.shipped("schemes", "prcl.scheme").is_file()
    paths.require_checkout("kloc test")
    paths.require_laboratory("kloc compare")


def test_package_for_servers_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "kloc")
    assert not paths.is_checkout()
    assert paths.shipped("schemes") == tmp_path / "kloc" / "data" / "schemes"
    with pytest.raises(KlocError, match="kloc compare needs the simulated machine") as refused:
        paths.require_laboratory("kloc compare")
    assert "./kloc in a checkout" in str(refused.value.hint)
    with pytest.raises(KlocError, match="kloc test needs a checkout") as refused:
        paths.require_checkout("kloc test")
    assert "./kloc test" in str(refused.value.hint)


def test_file_of_the_user_wins_over_the_systems_and_klocs(user: Path, tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    expected = {
        "a": write(user / "things" / "a.x", ""),
        "b": write(tmp_path / "etc" / "things" / "b.x", ""),
        "c": write(shipped / "c.x", ""),
    }
    write(tmp_path / "etc" / "things" / "a.x", "")
    for name in "ab":
        write(shipped / f"{name}.x", "")
    write(user / "things" / "d.other", "")
    assert paths.found("things", ".x", shipped) == expected


@pytest.mark.parametrize("home", [None, ""])
def test_configuration_is_in_the_home_directory_by_default(
    home: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    if home is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", home)
    assert next(paths.configured("policies")) == tmp_path / ".config/kloc/policies"


def test_schemes_and_machines_of_users_are_found(user: Path, tmp_path: Path) -> None:
    write(user / "schemes" / "mine.scheme", "4K max min min 7s max pageout\n")
    tiered = (profile.PROFILES / "tiered.toml").read_text()
    write(tmp_path / "etc" / "machines" / "ours.toml", tiered)
    assert "mine" in text.names() and "prcl" in text.names()
    assert text.load("mine")[0].min_age == 7_000_000
    assert {"ours", "tiered"} <= set(profile.names())
    assert profile.read("ours").name == "ours"


def test_policy_is_found_and_may_be_like_one_of_kloc(user: Path) -> None:
    write(user / "policies" / "mine.toml", 'summary = "mine"\nlike = "tpp"\n')
    assert "mine" in policy.names()
    assert policy.load("mine").set == policy.load("tpp").set
    assert policy.path("mine") == user / "policies" / "mine.toml"


def test_policy_is_given_by_its_path(user: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "given.toml", 'summary = "given"\nlike = "tpp"\n')
    loaded = policy.load(str(file))
    assert (loaded.name, loaded.set) == ("given", policy.load("tpp").set)
    assert policy.path("given") == file
    with pytest.raises(KlocError, match="does not exist"):
        policy.load(str(tmp_path / "none.toml"))
    other = write(tmp_path / "tpp.toml", 'summary = "another"\n')
    with pytest.raises(KlocError, match="another policy named tpp"):
        policy.load(str(other))


def test_workload_of_the_user_has_the_programs_beside_it(user: Path) -> None:
    file = write(user / "workloads" / "mine.py", f"NAMES = ('mine', 'other')\n{WORKLOAD}")
    assert {"mine", "other", "redis"} <= set(workload.names())
    assert workload.load("mine").programs == (str(file.parent / "src" / "a.c"),)


def test_workload_is_given_by_its_path(user: Path, tmp_path: Path) -> None:
    one = write(tmp_path / "one.py", f"NAMES = ('first',)\n{WORKLOAD}")
    assert workload.load(str(one)).name == "first"
    assert workload.load(str(one)) is workload.load("first")
    two = write(tmp_path / "two.py", f"NAMES = ('second', 'third')\n{WORKLOAD}")
    assert workload.load(f"{two}:third").name == "third"
    with pytest.raises(KlocError, match="has 2 workloads") as refused:
        workload.load(str(two))
    assert f"{two}:third" in str(refused.value.hint)
    with pytest.raises(KlocError, match="did you mean 'third'"):
        workload.load(f"{two}:thrid")
    clash = write(tmp_path / "clash.py", f"NAMES = ('redis',)\n{WORKLOAD}")
    with pytest.raises(KlocError, match="another workload named redis"):
        workload.load(str(clash))


def test_program_that_is_no_workload_is_not_executed(user: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    program = write(tmp_path / "bench.py", f"open({str(mark)!r}, 'w')\n")
    assert not workload.is_file(str(program))
    with pytest.raises(KlocError, match="no file of workloads"):
        workload.load(str(program))
    assert not mark.exists()
