# SPDX-License-Identifier: GPL-2.0
"""`kloc cold --bound` on made-up files of the policy thermostat, with a made-up clock."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import cold_bound
from kloc.server import system, thermostat
from support import golden, made_up_kernel
from support.command import parse, run

STATE = """\
node 0 regions 400 sample 20
group 0 budget_ns 45000000 cost_ns 400000 cold 4 came_back 1 counted 12345
group 77 budget_ns 1000000 cost_ns 0 cold 0 came_back 0 counted 0
sampled 7f1200000000 rate 9000 accessed 512 watched 50
sampled 7f1200200000 rate 60000 accessed 512 watched 50
sampled 7f1200400000 rate 0 accessed 0 watched 1
leaving 7f1200600000 rate 300 accessed 3 watched 3
cold 7f1200800000 rate 0 accessed 0 watched 0
cold 7f1200a00000 rate 0 accessed 0 watched 0
cold 7f1200c00000 rate 400 accessed 4 watched 4
cold 7f1200e00000 rate 2 accessed 1 watched 1
back 7f1201000000 rate 80000 accessed 512 watched 50
joining 7f1201200000 rate 5 accessed 0 watched 0
"""

MIB = 1 << 20


class Host:
    """A kernel with the policy thermostat, whose CPUs work for 1.5 s in each second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        settings = {"policies": "none naive thermostat", "policy": "thermostat"}
        self.root = made_up_kernel.make(root, **settings)
        self.debugfs = root / thermostat.FILE
        self.debugfs.parent.mkdir(parents=True)
        self.debugfs.write_text(STATE)
        setting = root / thermostat.SETTINGS / "visit_ns"
        setting.parent.mkdir(parents=True)
        setting.write_text("1000\n")
        self.time = 100.0
        self.sleep(0)
        clock = SimpleNamespace(monotonic=lambda: self.time, sleep=self.sleep)
        monkeypatch.setattr(cold_bound, "time", clock)
        monkeypatch.setattr(system, "ROOT", root)

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        # In user mode, niced and in kernel mode; the rest was idle.
        parts = [round(100 * share * self.time) for share in (1.0, 0.2, 0.3, 9.0)]
        stat = f"cpu  {' '.join(map(str, parts))} 5 6 7 0 0 0\ncpu0 1 2 3\n"
        (self.root / "proc/stat").write_text(stat)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release="6.12.1"))
    monkeypatch.setattr(os, "sysconf", lambda _: 100)
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    return Host(monkeypatch, tmp_path)


def test_counted_memory_is_printed_with_the_coldest_within_the_bound(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("cold", "--bound", "3") == 0
    printed = capsys.readouterr()
    golden.check("cold-bound", printed.out)
    assert printed.err == ""


def test_the_file_has_all_counted_regions_the_coldest_first(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("cold", "--bound", "3", "--for", "2s", "--json", "-") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["seconds"] == 2
    assert content["processor_ns"] == pytest.approx(1.5e9, rel=0.01)
    assert content["budget_ns"] == pytest.approx(45e6, rel=0.01)
    assert [(one["visits"], one["state"]) for one in content["regions"]] == [
        *((0, "cold"), (0, "cold"), (2, "cold"), (300, "leaving"), (400, "cold")),
        *((9000, "sampled"), (60000, "sampled"), (80000, "back")),
    ]
    assert content["regions"][0]["address"] == 0x7F1200800000
    assert content["within"] == {"regions": 6, "bytes": 12 * MIB, "cost_ns": 9702 * 1000}
    assert (content["fast_regions"], content["sample"], content["cold"]) == (400, 20, 4)


@pytest.mark.parametrize(("bound", "regions"), [("0.01", 3), ("0.04", 4), ("6", 7), ("50", 8)])
def test_a_higher_bound_has_more_memory(
    bound: str, regions: int, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    """150 us a second allow two regions without visits and one with two; 600 us one more."""
    run("cold", "--bound", bound, "--json", "-")
    content = json.loads(capsys.readouterr().out)
    assert content["within"]["regions"] == regions


def test_only_the_coldest_are_listed(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cold_bound, "LISTED", 2)
    run("cold", "--bound", "3")
    printed = capsys.readouterr().out
    assert "0x7f1200a00000" in printed and "0x7f1200e00000" not in printed
    assert "4 more regions within the bound" in printed


def test_regions_that_the_kernel_does_not_show_are_named(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.debugfs.write_text(STATE.replace("cold 4 came", "cold 2000 came"))
    run("cold", "--bound", "3")
    assert "2,000 regions in slow memory, of which 4 are counted" in capsys.readouterr().err


def test_a_policy_that_has_counted_nothing_yet_is_explained(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.debugfs.write_text("node 0 regions 400 sample 0\ngroup 0 budget_ns 0 cost_ns 0 cold 0\n")
    assert run("cold", "--bound", "3") == 0
    printed = capsys.readouterr()
    assert "400 regions" in printed.out and "within" not in printed.out
    assert "no region is counted yet" in printed.err


def test_another_policy_is_refused_with_how_to_select_this_one(host: Host) -> None:
    (host.root / "sys/kernel/mm/tiering/policy").write_text("naive\n")
    with pytest.raises(KlocError, match="selected policy is naive") as error:
        run("cold", "--bound", "3")
    assert "kloc on --policy thermostat" in str(error.value.hint)


def test_a_policy_that_counts_regions_too_will_do(host: Host) -> None:
    (host.root / "sys/kernel/mm/tiering/policy").write_text("thermostat-kloc\n")
    assert run("cold", "--bound", "3") == 0


def test_a_kernel_without_the_policy_is_refused(host: Host) -> None:
    (host.root / "sys/kernel/mm/tiering/policies").write_text("none naive\n")
    with pytest.raises(KlocError, match="has no policy thermostat") as error:
        run("cold", "--bound", "3")
    assert "CONFIG_NUMA_BALANCING" in str(error.value.hint)


def test_another_kernel_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(system, "ROOT", tmp_path / "empty")
    with pytest.raises(KlocError, match="no policies of memory tiers") as error:
        run("cold", "--bound", "3")
    assert "boot kloc's kernel" in str(error.value.hint)


def test_a_user_who_may_not_is_told_so(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Path.read_text

    def refuse(path: Path, *arguments: str, **options: str) -> str:
        if path == host.debugfs:
            raise PermissionError(13, "Permission denied")
        return reads(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(KlocError, match="only root") as error:
        run("cold", "--bound", "3")
    assert "as root" in str(error.value.hint)
    # Before it waits.
    assert host.time == 100


def test_a_missing_debugfs_is_explained(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    host.debugfs.unlink()
    with pytest.raises(KlocError, match="does not exist") as error:
        run("cold", "--bound", "3")
    assert "mount -t debugfs" in str(error.value.hint)


def test_one_tier_is_an_error(host: Host) -> None:
    host.debugfs.write_text("")
    with pytest.raises(KlocError, match="no node with fast memory") as error:
        run("cold", "--bound", "3")
    assert "two tiers" in str(error.value.hint)


def test_a_bound_is_for_all_memory(host: Host) -> None:
    with pytest.raises(UsageError, match="name one thing") as error:
        run("cold", "--bound", "3", "--all")
    assert "--bound PERCENT" in str(error.value.hint)


@pytest.mark.parametrize("text", ["0", "-1", "100", "3,6", "much"])
def test_wrong_bounds_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("cold", f"--bound={text}")
    assert "--bound" in capsys.readouterr().err
