# SPDX-License-Identifier: GPL-2.0
"""`kloc status`, with the files of a made-up kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.server import control, system
from kloc.server.config import Config
from support import golden, made_up_kernel, made_up_nodes, made_up_server
from support.command import run


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release="6.12.1"))
    monkeypatch.setattr(os, "sysconf", lambda _: 4096)
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()


def make(monkeypatch: pytest.MonkeyPatch, directory: Path, **changed: str) -> Path:
    """Let commands see the files of a kernel with the `changed` settings."""
    monkeypatch.setattr(system, "ROOT", made_up_kernel.make(directory, **changed))
    return directory


def stripped(text: str) -> str:
    """Return the text without spaces at the ends of its lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_status_is_printed_as_in_the_golden_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path)
    assert run("status") == 0
    printed = capsys.readouterr()
    golden.check("status", printed.out)
    assert printed.err == ""


def test_json_has_the_policy_settings_totals_limits_and_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path, scope="chosen")
    run("status", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["policy"], document["has_contexts"]) == ("kloc", True)
    assert document["policies"] == ["none", "naive", "kloc", "kloc-cap"]
    assert (document["scope"], document["kinds"]) == ("chosen", ["file", "blockdev", "slab"])
    assert document["settings"] == {
        "scan_us": "1000000",
        "rate_mbps": "512",
        "pin": "8",
        "kloc/inactive_age": "8",
        "kloc-cap/share": "50",
    }
    # All kinds of pages together.
    demoted = {"inactive": 40000, "unused": 1024}
    demoted |= dict.fromkeys(("old", "random", "limit", "pair", "cold"), 0)
    assert document["demoted"] == demoted
    assert document["freed"]["promoted"] == {"active": 300, "used": 0, "hint": 0}
    assert document["returned"]["promoted"] == {"active": 600, "used": 0, "hint": 0}
    assert document["not_moved"] == {
        "pinned": 76,
        "busy": 400,
        "unmovable": 0,
        "limit": 0,
        "protected": 0,
        "failed": 5000,
    }
    assert document["memory"] == {"knodes": 1 << 20, "pages": 2 << 20}
    assert document["contexts"]["file"] == {"number": 7, "active": 1, "fast": 579, "slow": 25856}
    slabs = document["slabs"]
    assert slabs["dentry"] == {
        "fast": 512,
        "fast_unused": 256,
        "slow": 1024,
        "slow_unused": 768,
        "promoted": 12,
        "demoted": 1036,
        "slow_away": 512,
    }
    assert document["limits"] == {"nodes_kb": {"node0": "max"}, "cgroups": {}}
    assert document["counts"]["blockdev"] == {"demoted_unused": 24}


def test_json_goes_to_a_file_with_the_tables_on_stdout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path / "kernel")
    assert run("status", "--json", f"{tmp_path}/s.json") == 0
    assert json.loads((tmp_path / "s.json").read_text())["kernel"] == "6.12.1"
    golden.check("status", capsys.readouterr().out)
    with pytest.raises(KlocError, match="--json"):
        run("status", "--json", f"{tmp_path}/no/s.json")


def test_it_says_if_kloc_is_on_and_by_which_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path))
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["on"] is None
    control.turn_on(Config(policy="tpp"))
    run("status")
    assert "kloc              on: policy tpp, default settings\n" in stripped(
        capsys.readouterr().out
    )
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["on"] == {"policy": "tpp", "config": None}


def test_settings_of_the_kernel_are_shown_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path, demotion_enabled="false", numa_balancing="1")
    run("status")
    printed = capsys.readouterr()
    shown = "kernel settings   demotion_enabled 0, numa_balancing 1, watermark_boost_factor 0"
    assert f"\n{shown}\n" in stripped(printed.out)
    assert "as root: echo 1 > /sys/kernel/mm/numa/demotion_enabled" in printed.err
    assert "as root: echo 2 > /proc/sys/kernel/numa_balancing" in printed.err
    run("status", "--json")
    settings = json.loads(capsys.readouterr().out)["kernel_settings"]
    assert settings == {"demotion_enabled": 0, "numa_balancing": 1, "watermark_boost_factor": 0}
    # Without contexts, they are as the administrator wants them.
    (root / "sys/kernel/mm/tiering/has_contexts").write_text("0\n")
    run("status")
    assert "echo 2" not in capsys.readouterr().err


def test_nodes_that_hinder_the_policy_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path)
    made_up_nodes.make(root, tiers=((0,), (1,)), unreclaimable=(0,))
    run("status")
    printed = capsys.readouterr()
    assert "kswapd of node 0 has given up" in printed.err
    assert "no slab is demoted: all memory of node 1 is in ZONE_MOVABLE" in printed.err
    golden.check("status", printed.out)
    run("status", "--json")
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert nodes["1"] == {"tier": "slow", "managed": {"Movable": 1 << 18}, "gave_up": False}
    assert nodes["0"]["gave_up"]


def test_limits_and_rate_are_shown_if_they_are_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path, rate_mbps="0")
    (root / "sys/kernel/mm/tiering/node0/max_kb").write_text("65536\n")
    for name, value in {"max": 8 << 20, "current": 3 << 20}.items():
        (root / f"sys/fs/cgroup/a/memory.kloc.{name}").write_text(f"{value}\n")
    run("status")
    printed = stripped(capsys.readouterr().out)
    assert "\nlimits            node0 64.0 MiB, /a 3.0 MiB of 8.0 MiB\n" in printed
    assert "\nrate              no limit\n" in printed


@pytest.mark.parametrize(("policy", "own"), [("none", None), ("kloc-cap", "share")])
def test_a_policy_without_contexts_is_named_with_how_to_select_one(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    policy: str,
    own: str | None,
) -> None:
    make(monkeypatch, tmp_path, policy=policy, has_contexts="0")
    assert run("status") == 0
    printed = capsys.readouterr()
    assert printed.out.split()[:2] == ["policy", f"{policy},"]
    assert f"the selected policy, {policy}, has no contexts" in printed.err
    assert "as root: echo kloc > /sys/kernel/mm/tiering/policy" in printed.err
    # Of single policies' settings, only those of the selected one are shown.
    labels = {line.split("  ")[0] for line in printed.out.splitlines()}
    assert labels & {"share", "inactive age", "contexts", "knodes"} == ({own} if own else set())
    assert "contexts now" not in printed.out


def test_a_policy_of_another_kernel_may_have_contexts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path, policy="mine")
    run("status")
    printed = capsys.readouterr()
    assert "contexts now" in printed.out and printed.err == ""


def test_kernel_without_policies_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    with pytest.raises(KlocError, match=r"Linux 6\.12\.1, has no policies of memory") as error:
        run("status")
    assert "kloc kernel package" in str(error.value.hint)


def test_counters_are_shown_to_every_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(monkeypatch, tmp_path)
    original = Path.open

    def denied(path: Path, *args: object, **options: object) -> object:
        if path.name == "contexts":
            raise PermissionError
        return original(path, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", denied)
    assert run("status") == 0
    printed = capsys.readouterr()
    assert "demoted, inactive      40,000" in printed.out
    assert "contexts now" not in printed.out
    assert "only root may read /sys/kernel/debug/kloc/contexts" in printed.err


def test_missing_debugfs_is_reported_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(monkeypatch, tmp_path)
    (root / "sys/kernel/debug/kloc/contexts").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    run("status")
    assert "mount -t debugfs debugfs /sys/kernel/debug" in capsys.readouterr().err
