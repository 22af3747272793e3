# SPDX-License-Identifier: GPL-2.0
"""`kloc top`, over files of a made up kernel."""

from __future__ import annotations

import argparse
import io
import json
import os
import time
from pathlib import Path

import pytest
from rich.console import Console

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import top
from kloc.server import contexts
from support import made_up_kernel

GOLDEN = """\
8 contexts, 2 active; 2.8 MiB in fast memory, 101.0 MiB in slow memory

 fast, MiB   slow, MiB   active   age   openers   CPU   of
 ──────────────────────────────────────────────────────────────────────────────
       2.0         1.0      yes     0         2     1   /var/lib/a b
       0.5         0.0      yes     1         0     0   /dev/sda1
       0.2         0.0       no     3         0     0   /mnt/with space/er/file
       0.0         0.0       no     2         0     0   sdc1:/else[where]
       0.0         0.0       no   200         1     3   0:31:inode 15
       0.0         0.0       no     0         0     0   /
       0.0       100.0       no     7         0     0   /srv/backup
       0.0         0.0       no     0         0     2   /var/lib/

"""


SCREEN, SCREEN_LEFT = "\x1b[?1049h", "\x1b[?1049l"


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(contexts, "ROOT", made_up_kernel.make(tmp_path))
    monkeypatch.setattr(os, "sysconf", lambda _: 4096)
    terminal.stdout.cache_clear()
    return tmp_path


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    top.add_arguments(parser)
    return top.run(parser.parse_args(argv))


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--once") == 0
    assert stripped(capsys.readouterr().out) == GOLDEN.splitlines()


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ("fast", [2, 4]),
        ("slow", [3, 2]),
        ("size", [3, 2]),
        ("age", [6, 3]),
        ("heat", [7, 2]),
        ("openers", [2, 6]),
        ("id", [8, 7]),
    ],
)
def test_it_is_sorted(key: str, first: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    run("--json", "--sort", key, "--lines", "2")
    document = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in document["contexts"]] == first
    assert document["total"] == {"number": 8, "active": 2, "fast": 707, "slow": 25856}
    run("--json", "--sort", key)
    every = json.loads(capsys.readouterr().out)["contexts"]
    assert [each["id"] for each in every[:2]] == first
    assert len(every) == 8


def test_what_json_has_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    run("--json", "--lines", "1")
    (context,) = json.loads(capsys.readouterr().out)["contexts"]
    assert context == {
        "place": "/var/lib/a b",
        "id": 2,
        "kind": "file",
        "active": True,
        "age": 0,
        "openers": 2,
        "heat": 3,
        "cpu": 1,
        "fast": 512,
        "slow": 256,
        "dev": "8:1",
        "ino": 12,
        "path": "/var/lib/a b",
    }


def test_again_and_again_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    assert run("--interval", "0.5") == 0
    assert slept == [0.5, 0.5]
    assert capsys.readouterr().out.count("8 contexts, 2 active") == 2


@pytest.mark.parametrize(("terminal", "in_place"), [("xterm", True), ("dumb", False)])
def test_on_a_terminal(terminal: str, in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    environment = {"TERM": terminal, "COLUMNS": "60", "LINES": "8"}
    console = Console(file=written, force_terminal=True, _environ=environment)
    monkeypatch.setattr(terminal, "stdout", lambda: console)

    def sleep(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    assert run() == 0
    text = written.getvalue()
    assert text.count("8 contexts, 2 active") == 1
    # There is room for three of them.
    assert "with space" in text and "sdc1" not in text
    assert (SCREEN in text, text.endswith(SCREEN_LEFT)) == (in_place, in_place)


def test_names_that_would_disturb_a_terminal(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kernel / contexts.CONTEXTS
    file.write_bytes(file.read_bytes().replace(b"/srv/backup", b"/srv/\xff\x1b[2J\\012end"))
    run("--once", "--sort", "slow", "--lines", "1")
    assert "/srv/\ufffd\ufffd[2J\ufffdend" in capsys.readouterr().out


def test_switched_off(kernel: Path) -> None:
    (kernel / contexts.SETTINGS / "enabled").write_text("0\n")
    with pytest.raises(KlocError, match="switched off") as error:
        run()
    assert error.value.hint == "as root: echo 1 > /sys/kernel/mm/kloc/enabled"


def test_a_kernel_without_contexts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contexts, "ROOT", tmp_path / "nothing")
    with pytest.raises(KlocError, match="has no contexts"):
        run("--once")


@pytest.mark.parametrize(
    "argv",
    [("--sort", "speed"), ("--lines", "-1"), ("--interval", "0"), ("--interval", "nan")],
    ids=" ".join,
)
def test_wrong_options(argv: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        run(*argv)
