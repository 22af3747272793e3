# SPDX-License-Identifier: GPL-2.0
"""`kloc top`, with the files of a made-up kernel."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path

import pytest
from rich.console import Console

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import contexts, system, tiering
from support import golden, made_up_kernel
from support.command import run

SCREEN, SCREEN_LEFT = "\x1b[?1049h", "\x1b[?1049l"


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(tmp_path))
    monkeypatch.setattr(os, "sysconf", lambda _: 4096)
    terminal.stdout.cache_clear()
    return tmp_path


def test_contexts_are_printed_as_in_the_golden_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("top", "--once") == 0
    golden.check("top", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ("fast", [2, 4]),
        ("slow", [3, 2]),
        ("size", [3, 2]),
        ("age", [6, 3]),
        ("id", [8, 7]),
    ],
)
def test_contexts_with_the_highest_value_come_first(
    key: str, first: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    run("top", "--json", "--sort", key, "--lines", "2")
    document = json.loads(capsys.readouterr().out)
    assert [context["id"] for context in document["contexts"]] == first
    assert document["policy"] == "kloc"
    assert document["total"] == {"number": 8, "active": 2, "fast": 707, "slow": 25856}
    run("top", "--json", "--sort", key)
    contexts_shown = json.loads(capsys.readouterr().out)["contexts"]
    assert [context["id"] for context in contexts_shown[:2]] == first
    assert len(contexts_shown) == 8


def test_json_has_all_columns_of_a_context(capsys: pytest.CaptureFixture[str]) -> None:
    run("top", "--json", "-", "--lines", "1")
    (context,) = json.loads(capsys.readouterr().out)["contexts"]
    assert context == {
        "place": "/var/lib/a b",
        "id": 2,
        "kind": "file",
        "active": True,
        "age": 0,
        "open": True,
        "cpu": 1,
        "fast": 512,
        "slow": 256,
        "dev": "8:1",
        "ino": 12,
        "path": "/var/lib/a b",
    }


def test_contexts_are_shown_until_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    assert run("top", "--interval", "0.5") == 0
    assert slept == [0.5, 0.5]
    assert capsys.readouterr().out.count("8 contexts, 2 active") == 2


@pytest.mark.parametrize(("kind", "in_place"), [("xterm", True), ("dumb", False)])
def test_view_fits_the_terminal_and_is_updated_in_place(
    kind: str, in_place: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    environment = {"TERM": kind, "COLUMNS": "60", "LINES": "8"}
    console = Console(file=written, force_terminal=True, _environ=environment)
    monkeypatch.setattr(terminal, "stdout", lambda: console)

    def sleep(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    assert run("top") == 0
    text = written.getvalue()
    assert text.count("8 contexts, 2 active") == 1
    # Three contexts fit.
    assert "/mnt/with" in text and "sdc1" not in text
    assert (SCREEN in text, text.endswith(SCREEN_LEFT)) == (in_place, in_place)


@pytest.mark.parametrize("columns", [60, 80])
def test_long_paths_leave_the_other_columns_their_width(
    columns: int, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = kernel / contexts.CONTEXTS
    file.write_text(file.read_text().replace("/srv/backup", "/srv/" + "long name/" * 30))
    written = io.StringIO()
    environment = {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "25"}
    console = Console(file=written, force_terminal=True, color_system=None, _environ=environment)
    monkeypatch.setattr(terminal, "stdout", lambda: console)
    assert run("top", "--once", "--sort", "slow") == 0
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    (head,) = (line for line in lines if "path" in line)
    assert head.split() == ["fast,", "MiB", "slow,", "MiB", "active", "age", "open", "CPU", "path"]
    (row,) = (line for line in lines if "/srv/" in line)
    assert row.split()[:6] == ["0.0", "100.0", "no", "7", "no", "0"]
    assert row.rstrip().endswith("…")


def test_control_characters_in_paths_are_replaced(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kernel / contexts.CONTEXTS
    file.write_bytes(file.read_bytes().replace(b"/srv/backup", b"/srv/\xff\x1b[2J\\012end"))
    run("top", "--once", "--sort", "slow", "--lines", "1")
    assert "/srv/\ufffd\ufffd[2J\ufffdend" in capsys.readouterr().out


def test_a_policy_without_contexts_is_reported_with_how_to_select_one(kernel: Path) -> None:
    (kernel / tiering.POLICY).write_text("none\n")
    (kernel / contexts.HAS_CONTEXTS).write_text("0\n")
    with pytest.raises(KlocError, match="the selected policy, none, has no contexts") as error:
        run("top", "--once")
    assert error.value.hint == "as root: echo kloc > /sys/kernel/mm/tiering/policy"


def test_kernel_without_policies_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path / "nothing")
    with pytest.raises(KlocError, match="has no policies of memory tiers"):
        run("top", "--once")


@pytest.mark.parametrize(
    "argv",
    [("--sort", "speed"), ("--lines", "-1"), ("--interval", "0"), ("--interval", "nan")],
    ids=" ".join,
)
def test_wrong_values_are_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        run("top", *argv)
