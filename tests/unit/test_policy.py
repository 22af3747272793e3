# SPDX-License-Identifier: GPL-2.0
"""Policies: what each sets, which periods are divided, which settings win."""

from pathlib import Path

import pytest

from kloc import policy, profile
from kloc.errors import KlocError

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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('summary = "s"\n[sat]\n', "did you mean 'set'"),
        ("[set]\n", "summary is missing"),
        ('summary = "s"\ntiming = "quick"\n', "unknown"),
        ('summary = "s"\nexpect = ["promotions"]\n', "did you mean 'promoted'"),
        ('summary = "s"\n[set]\n"/etc/passwd" = 1\n', "no file under /proc/sys or /sys"),
        ('summary = "s"\n[set]\n"/sys/a" = true\n', "must be a number or a text"),
        ("summary =", "mine.toml"),
    ],
)
def test_a_wrong_policy_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(KlocError, match=reason.replace("(", r"\(")):
        written(monkeypatch, tmp_path, text)
