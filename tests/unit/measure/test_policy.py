# SPDX-License-Identifier: GPL-2.0
"""Policies: what each sets, which periods are divided, which settings win."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.measure import policy

BALANCING = "/proc/sys/kernel/numa_balancing"
DEMOTION = "/sys/kernel/mm/numa/demotion_enabled"
SCAN_DELAY = "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms"


@pytest.mark.parametrize("name", policy.names())
def test_every_policy_loads(name: str) -> None:
    assert policy.load(name).summary


def test_a_comparison_has_these_rows_in_this_order() -> None:
    rows = ["all-slow", "naive", "stock", "autonuma", "tpp", "kloc-nomigrate", "kloc"]
    rows += ["oracle", "all-fast"]
    assert list(policy.COMPARED) == rows
    assert policy.names()[: len(rows)] == rows


@pytest.mark.parametrize(
    ("name", "balancing", "demotion"),
    [
        ("all-slow", "0", "1"),
        ("all-fast", "0", "1"),
        ("naive", "0", "0"),
        ("stock", "0", "0"),
        ("autonuma", "1", "0"),
        ("tpp", "2", "1"),
        # Applications' pages are treated as under tpp.
        ("kloc-nomigrate", "2", "1"),
        ("kloc", "2", "1"),
    ],
)
def test_what_the_policies_set(name: str, balancing: str, demotion: str) -> None:
    settings = policy.load(name).settings("", profile.load("tiered"))
    assert settings[BALANCING] == balancing
    assert settings[DEMOTION] == demotion


def written(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> policy.Policy:
    monkeypatch.setattr(policy, "POLICIES", folder)
    (folder / "mine.toml").write_text(text)
    return policy.load("mine")


def test_periods_are_divided_and_what_is_tuned_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = written(
        monkeypatch,
        tmp_path,
        f'summary = "s"\n[set]\n"{BALANCING}" = 2\n[divided]\n"{SCAN_DELAY}" = 1000\n'
        f'[for.redis]\n"{BALANCING}" = 1\n',
    )
    host = profile.load("kloc-two-tier")
    assert host.scale == 16
    assert mine.settings("rocksdb", host) == {BALANCING: "2", SCAN_DELAY: "62"}
    assert mine.settings("redis", host)[BALANCING] == "1"


def test_what_a_policy_does_not_set_is_as_in_the_one_that_it_is_like(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "theirs.toml").write_text(
        f'summary = "t"\nexpect = ["promoted"]\n[set]\n"{BALANCING}" = 2\n"{DEMOTION}" = 1\n'
        f'[divided]\n"{SCAN_DELAY}" = 1000\n[for.redis]\n"{DEMOTION}" = 0\n'
    )
    mine = written(
        monkeypatch,
        tmp_path,
        'summary = "s"\nlike = "theirs"\n[set]\n"/sys/more" = 3\n'
        f'"{BALANCING}" = 1\n[for.mail]\n"/sys/more" = 4\n',
    )
    host = profile.load("kloc-two-tier")
    settings = mine.settings("", host)
    # Theirs are written first: what this one adds may be there only then.
    assert list(settings.items()) == [
        (BALANCING, "1"),
        (DEMOTION, "1"),
        ("/sys/more", "3"),
        (SCAN_DELAY, "62"),
    ]
    assert (mine.summary, mine.expect) == ("s", ("promoted",))
    assert mine.settings("redis", host)[DEMOTION] == "0"
    assert mine.settings("mail", host)["/sys/more"] == "4"


def test_what_a_policy_sets_wins_over_every_table_of_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "theirs.toml").write_text(
        f'summary = "t"\n[set]\n"{BALANCING}" = 2\n[divided]\n"{SCAN_DELAY}" = 1000\n'
        f'[for.redis]\n"{DEMOTION}" = 1\n"{SCAN_DELAY}" = 9\n'
    )
    mine = written(
        monkeypatch,
        tmp_path,
        f'summary = "s"\nlike = "theirs"\n[set]\n"{SCAN_DELAY}" = 5\n"{DEMOTION}" = 0\n'
        f'[divided]\n"{BALANCING}" = 32\n',
    )
    host = profile.load("kloc-two-tier")
    assert mine.settings("", host) == {SCAN_DELAY: "5", DEMOTION: "0", BALANCING: "2"}
    assert mine.settings("redis", host) == mine.settings("", host)


@pytest.mark.parametrize("name", ["kloc-nomigrate", "kloc-random", "kloc-allactive", "kloc-cap"])
def test_a_control_differs_from_kloc_in_what_it_is_for(name: str) -> None:
    host = profile.load("tiered")
    theirs, its = policy.load("kloc").settings("", host), policy.load(name).settings("", host)
    changed = {path for path in its if its[path] != theirs.get(path)}
    assert changed <= {"/sys/kernel/mm/kloc/mode", "/sys/kernel/mm/kloc/node0/max_kb"}
    assert its["/sys/kernel/mm/kloc/mode"] == name.removeprefix("kloc-")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('summary = "s"\nlike = "yours"\n', "unknown"),
        ('summary = "s"\nlike = "mine"\n', "unknown"),
        ('summary = "s"\n[sat]\n', "did you mean 'set'"),
        ("[set]\n", "summary is missing"),
        ('summary = "s"\ntiming = "quick"\n', "unknown"),
        ('summary = "s"\nexpect = ["promotions"]\n', "did you mean 'promoted'"),
        ('summary = "s"\n[set]\n"/etc/passwd" = 1\n', "no file under /proc/sys or /sys"),
        ('summary = "s"\n[set]\n"/sys/a" = true\n', "must be a number or a text"),
        ('summary = "s"\n[for.rocksbd]\n', "did you mean 'rocksdb'"),
        ('summary = "s"\nset = 5\n', "must be a table"),
        ('summary = "s"\n[for]\nredis = 5\n', r"\[for.redis\] must be a table"),
        ('summary = "s"\n[divided]\n"/sys/a" = "1s"\n', "must be a number to divide"),
        ("summary =", "mine.toml"),
    ],
)
def test_a_wrong_policy_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(KlocError, match=reason.replace("(", r"\(")):
        written(monkeypatch, tmp_path, text)
