# SPDX-License-Identifier: GPL-2.0
"""`kloc workloads`, `kloc policies` and `kloc machines`: lists of names with summaries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.machine import profile
from kloc.measure import policy, workload
from support.command import run

NAMES: dict[str, Callable[[], list[str]]] = {
    "workloads": workload.names,
    "policies": policy.names,
    "machines": profile.names,
}

KEYS = {
    "workloads": {"name", "summary", "packages", "spread"},
    "policies": {
        "name",
        "summary",
        "frames from",
        "settings",
        "divided by scale",
        "settings of",
        "tuned",
    },
    "machines": {"name", "summary", "cores", "scale", "cpu", "fast", "slow", "storage"},
}


@pytest.fixture(autouse=True)
def wide_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    terminal.stdout.cache_clear()


def listed(command: str, *argv: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert run(command, *argv, "--json") == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.parametrize("command", NAMES)
def test_every_name_has_a_line_with_its_summary(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = listed(command, capsys=capsys)
    assert run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES[command]()
    assert [line.split(maxsplit=1)[1].strip() for line in lines] == [row["summary"] for row in rows]


@pytest.mark.parametrize("command", NAMES)
def test_json_has_all_details(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(command, capsys=capsys)
    assert [row["name"] for row in rows] == NAMES[command]()
    assert all(row.keys() >= KEYS[command] for row in rows)


@pytest.mark.parametrize(
    ("command", "name", "details"),
    [
        ("workloads", "redis", ["packages: ", "redis"]),
        ("policies", "tpp", ["/proc/sys/kernel/numa_balancing: 2", "divided by scale"]),
        ("machines", "cxl", ["read_latency_ns: ", "cores: 1", " cpu:"]),
    ],
)
def test_named_ones_are_shown_with_details(
    command: str, name: str, details: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command, name) == 0
    text = capsys.readouterr().out
    assert text.split()[0] == name
    assert all(detail in text for detail in details)
    (row,) = listed(command, name, capsys=capsys)
    assert row["name"] == name


def test_each_table_of_details_is_named_once_above_its_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("policies", "kloc") == 0
    lines = capsys.readouterr().out.splitlines()
    texts = [line.strip() for line in lines]
    for label in ("settings:", "divided by scale:", "settings of:", "tuned:"):
        assert texts.count(label) == 1
    at = texts.index("settings:")
    indents = [len(line) - len(line.lstrip()) for line in lines]
    assert indents[at + 1] == indents[at] + 2
    assert texts[at + 1] == "/sys/kernel/mm/lru_gen/enabled: y"
    assert "/sys/kernel/mm/tiering/scan_us: 1000000 / 42.7" in texts
    assert texts[texts.index("redis:") + 1] == "/proc/sys/vm/watermark_scale_factor: 400"


@pytest.mark.parametrize(
    ("command", "name", "noun"),
    [
        ("workloads", "redi", "workload 'redi'.*'redis'"),
        ("policies", "tp", "policy 'tp'.*'tpp'"),
        ("machines", "cxk", "machine 'cxk'.*'cxl'"),
    ],
)
def test_unknown_name_names_the_nearest(command: str, name: str, noun: str) -> None:
    with pytest.raises(UsageError, match=f"unknown {noun}"):
        run(command, name)


def test_list_is_written_to_a_file_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("machines", "cxl", f"--json={tmp_path}/m") == 0
    (row,) = json.loads((tmp_path / "m").read_text())
    assert row["name"] == "cxl"
    assert "cxl" in capsys.readouterr().out
    with pytest.raises(KlocError, match="does not exist"):
        run("machines", f"--json={tmp_path}/no/m")


def test_the_machine_of_a_file_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text((profile.PROFILES / "cxl.toml").read_text())
    rows = listed("machines", str(file), "cxl", capsys=capsys)
    assert [row.pop("name") for row in rows] == [str(file), "cxl"]
    assert rows[0] == rows[1]
    with pytest.raises(KlocError, match=r"none\.toml does not exist"):
        run("machines", str(tmp_path / "none.toml"))


def test_settings_of_policies_depend_on_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    settings = [
        listed("policies", "tpp", "--machine", name, capsys=capsys)[0]["settings"]
        for name in ("tiered", "kloc-two-tier", "cxl")
    ]
    assert len({frozenset(each.items()) for each in settings}) > 1


@pytest.mark.parametrize("command", ["machines", "policies"])
def test_host_with_little_memory_lists_everything(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    rows = listed(command, capsys=capsys)
    assert [row["name"] for row in rows] == NAMES[command]()


@pytest.mark.parametrize("command", NAMES)
def test_lists_in_a_file_have_whole_lines(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = listed(command, capsys=capsys)
    monkeypatch.delenv("COLUMNS")
    terminal.stdout.cache_clear()
    assert run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1)[1].strip() for line in lines] == [row["summary"] for row in rows]
    run(command, rows[-1]["name"])
    assert max(map(len, capsys.readouterr().out.splitlines())) < 500
