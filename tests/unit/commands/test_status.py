# SPDX-License-Identifier: GPL-2.0
"""`kloc status`, over files of a made up kernel."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import status
from kloc.server import contexts
from support import made_up_kernel

GOLDEN = """\
contexts             on, Linux 6.12.1
mode                 migrate
scope                files of all processes
kinds                file, blockdev
limits               none
rate                 any
knodes               8, 1.0 MiB, 1.0 % of their pages
counts of pages      2.0 MiB
kmap look-ups saved  90.0 % of 10,000
streams              12 predicted, 3 of them wrong

 pages since boot    number     MiB    share
 ───────────────────────────────────────────
 demoted, inactive   40,000   156.2   80.0 %
 demoted, unused      1,024     4.0    2.0 %
 demoted, last            0     0.0    0.0 %
 promoted, whole      3,000    11.7    6.0 %
 promoted, used         500     2.0    1.0 %
 not moved, pinned       76     0.3    0.2 %
 not moved, busy        400     1.6    0.8 %
 not moved, unpaid    5,000    19.5   10.0 %
 placed, fast        90,000   351.6   90.0 %
 placed, slow        10,000    39.1   10.0 %


 contexts now   number   active   fast, MiB   slow, MiB
 ──────────────────────────────────────────────────────
 blockdev            1        1         0.5         0.0
 directory           2        0         0.0         0.0
 file                5        1         2.3       101.0

"""


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release="6.12.1"))
    monkeypatch.setattr(os, "sysconf", lambda _: 4096)
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()


def make(monkeypatch: pytest.MonkeyPatch, folder: Path, **changed: str) -> Path:
    monkeypatch.setattr(contexts, "ROOT", made_up_kernel.make(folder, **changed))
    return folder


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    status.add_arguments(parser)
    return status.run(parser.parse_args(argv))


def stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path)
    assert run() == 0
    printed = capsys.readouterr()
    assert stripped(printed.out) == GOLDEN
    assert printed.err == ""


def test_as_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path, scope="chosen")
    run("--json")
    document = json.loads(capsys.readouterr().out)
    assert document["enabled"] is True
    assert document["scope"] == "chosen"
    assert document["settings"]["reserve_pages"] == "1540"
    assert document["demoted"] == {"inactive": 40000, "unused": 1024, "last": 0}
    assert document["not_moved"] == {"pinned": 76, "busy": 400, "unpaid": 5000}
    assert document["memory"] == {"knodes": 1 << 20, "pages": 2 << 20}
    assert document["lookups"] == {"saved": 9000, "made": 1000}
    assert document["contexts"]["file"] == {"number": 5, "active": 1, "fast": 579, "slow": 25856}
    assert document["limits"] == {"nodes_kb": {"node0": "max"}, "cgroups": {}}
    assert document["counts"]["trial_level1_uses"] == 2


def test_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path, rate_mbps="100")
    (root / "sys/kernel/mm/kloc/node0/max_kb").write_text("65536\n")
    for name, value in {"max": 8 << 20, "current": 3 << 20}.items():
        (root / f"sys/fs/cgroup/a/memory.kloc.{name}").write_text(f"{value}\n")
    run()
    printed = stripped(capsys.readouterr().out)
    assert "\nlimits               node0 64.0 MiB, /a 3.0 MiB of 8.0 MiB\n" in printed
    assert "\nrate                 100 MB/s\n" in printed


def test_switched_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path, enabled="0")
    assert run() == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("contexts             off, Linux 6.12.1")
    assert "as root: echo 1 > /sys/kernel/mm/kloc/enabled" in printed.err


def test_a_kernel_without_contexts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contexts, "ROOT", tmp_path)
    with pytest.raises(KlocError, match=r"Linux 6\.12\.1, has no contexts") as error:
        run()
    assert "CONFIG_KLOC=y" in str(error.value.hint)


def test_not_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path)
    whole = Path.open

    def denied(path: Path, *args: object, **options: object) -> object:
        if path.name == "contexts":
            raise PermissionError
        return whole(path, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", denied)
    assert run() == 0
    printed = capsys.readouterr()
    assert "demoted, inactive   40,000" in printed.out
    assert "contexts now" not in printed.out
    assert "only root may read /sys/kernel/debug/kloc/contexts" in printed.err


def test_debugfs_that_is_not_mounted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path)
    (root / "sys/kernel/debug/kloc/contexts").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    run()
    assert "mount -t debugfs debugfs /sys/kernel/debug" in capsys.readouterr().err
