# SPDX-License-Identifier: GPL-2.0
"""What kloc doctor --server finds on made-up servers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from kloc.base import numa
from kloc.base.errors import UsageError
from kloc.server import checks, config, control, system
from kloc.server.checks import Finding, Speed
from kloc.server.config import Config
from support import made_up_nodes, made_up_server
from support.command import run
from support.made_up_nodes import write

DRAM = (100, 120, 100_000, 80_000)
CXL = (250, 270, 30_000, 20_000)
"""Latencies of reads and writes in ns, and bandwidths in MB/s."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a server with two tiers, on which kloc is on and all is well."""
    make(monkeypatch, tmp_path)
    control.turn_on(Config())
    (tmp_path / "sys/kernel/mm/tiering/has_contexts").write_text("1\n")
    # No slab can move here.
    (tmp_path / "sys/kernel/debug/reloc/caches").unlink()
    return tmp_path


def make(
    monkeypatch: pytest.MonkeyPatch, root: Path, tiers: tuple[tuple[int, ...], ...] = ((0,), (1,))
) -> None:
    """Let the checks see the files of a server on which kloc is off."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(config, "DEFAULT", root / "etc/kloc.toml")
    monkeypatch.setattr(system, "ROOT", made_up_server.make(root, tiers))
    free(root, {node: 1000 for tier in tiers for node in tier})


def free(root: Path, pages: dict[int, int]) -> None:
    """Let nodes have free pages; the low watermark is 100."""
    file = root / numa.ZONEINFO.lstrip("/")
    text = ""
    for line in file.read_text().splitlines():
        text += f"{line}\n"
        if line.startswith("Node"):
            node = int(line.split()[1].rstrip(","))
            text += f"  pages free     {pages[node]}\n        low      100\n"
    file.write_text(text)


def tell(root: Path, node: int, figures: tuple[int, int, int, int], access: int = 1) -> None:
    """Let the firmware tell the latencies and bandwidths of a node."""
    names = ("read_latency", "write_latency", "read_bandwidth", "write_bandwidth")
    for name, figure in zip(names, figures, strict=True):
        folder = f"{numa.NODES}/node{node}/access{access}/initiators"
        write(root, f"{folder}/{name}", str(figure))


def found(what: str) -> Finding:
    """Return the only finding of a name."""
    (finding,) = [one for one in checks.findings() if one.what == what]
    assert finding.state and bool(finding.remedy) != finding.well
    return finding


def test_all_is_well_on_a_server_that_tiers(server: Path) -> None:
    assert [one for one in checks.findings() if not one.well] == []
    assert found("tiers").state == "fast: node 0; slow: node 1"
    assert found("policy").state == "kloc is on: kloc, default settings"
    assert "1000 pages" not in found("demotion").state and "MiB" in found("demotion").state


@pytest.mark.parametrize("policy", ["stock", "tpp"])
def test_policies_of_any_kernel_are_well_without_klocs(
    policy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(monkeypatch, tmp_path)
    shutil.rmtree(tmp_path / "sys/kernel/mm/tiering")
    write(tmp_path, "etc/kloc.toml", f'policy = "{policy}"')
    kernel = found("kernel")
    assert kernel.well and f"policy {policy} does not need" in kernel.state
    assert found("policy").remedy.startswith("kloc on,")
    assert found("kloc on").well
    control.turn_on(config.read())
    assert found("kernel").well and found("policy").well
    write(tmp_path, "etc/kloc.toml", f'policy = "{policy}"\n[limits.nodes]\nnode0 = "1G"')
    assert not found("kernel").well and not found("kloc on").well


def test_another_kernel_is_named(server: Path) -> None:
    (server / "sys/kernel/mm/tiering/policy").unlink()
    kernel = found("kernel")
    assert "has no policies of memory tiers" in kernel.state
    assert "kloc on --policy tpp" in kernel.remedy


def test_one_node_needs_slow_memory_online(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make(monkeypatch, tmp_path, ((0,),))
    tiers = found("tiers")
    assert tiers.state == "all memory is on node 0"
    assert "daxctl" in tiers.remedy


@pytest.mark.parametrize("own", [True, False])
def test_kloc_on_is_not_advised_where_there_are_no_tiers(
    own: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(monkeypatch, tmp_path, ((0,),))
    if not own:
        (tmp_path / "sys/kernel/mm/tiering/policy").unlink()
    assert found("policy").state == "kloc is off; it needs two tiers first"
    assert not any("kloc on" in one.remedy for one in checks.findings())


def test_nodes_in_one_tier_without_figures_are_the_firmwares_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(monkeypatch, tmp_path, ((0, 1),))
    tell(tmp_path, 0, DRAM)
    tiers = found("tiers")
    assert "nodes 0, 1 are in one tier" in tiers.state
    assert "no latency of node 1" in tiers.remedy and "HMAT" in tiers.remedy
    assert "would be refused" in found("kloc on").state


def test_sockets_are_no_tiers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make(monkeypatch, tmp_path, ((0, 1),))
    write(tmp_path, f"{numa.NODES}/has_cpu", "0-1")
    assert "sockets count as equally fast" in found("tiers").remedy


def test_nodes_in_one_tier_against_the_firmware_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(monkeypatch, tmp_path, ((0, 1),))
    tell(tmp_path, 0, DRAM)
    tell(tmp_path, 1, CXL)
    firmware = found("firmware")
    assert "node 1 belongs to tier 38, and is in tier 4" in firmware.state
    assert "260 ns, 25 GB/s" in firmware.state
    assert "online again" in firmware.remedy


def test_tiers_that_are_as_the_firmware_says_are_well(server: Path) -> None:
    tell(server, 0, DRAM)
    tell(server, 1, CXL)
    tiers = server / numa.MEMORY_TIERS.lstrip("/")
    (tiers / "memory_tier104").rename(tiers / "memory_tier38")
    assert found("firmware").state.startswith("says what the tiers are (node 0: 110 ns, 90 GB/s; ")
    (tiers / "memory_tier38").rename(tiers / "memory_tier22")
    assert not found("firmware").well


def test_expected_tiers_are_those_of_the_kernel() -> None:
    dram, cxl = Speed(220, 180_000), Speed(520, 50_000)
    # 576 * 520 / 220 = 1361; * 180000 / 50000 = 4899; / 128 = 38.
    assert checks.expected_tiers({0: dram, 1: cxl}, [0]) == {0: 4, 1: 38}
    assert checks.expected_tiers({1: cxl}, [0]) == {}
    near, far = Speed(240, 180_000), Speed(243, 180_000)
    assert checks.expected_tiers({0: dram, 1: near}, [0, 1]) == {0: 4, 1: 4}
    assert checks.expected_tiers({0: dram, 1: far}, [0, 1]) is None


def test_unequal_nodes_with_cpus_make_the_kernel_ignore_the_firmware(server: Path) -> None:
    write(server, f"{numa.NODES}/has_cpu", "0-1")
    tell(server, 0, DRAM)
    tell(server, 1, CXL)
    assert "differ by over 10 %" in found("firmware").state


def test_figures_of_cpus_come_before_those_of_all_initiators(server: Path) -> None:
    tell(server, 0, CXL, access=0)
    assert checks.read_speed(0) == Speed(520, 50_000)
    tell(server, 0, DRAM, access=1)
    assert checks.read_speed(0) == Speed(220, 180_000)
    tell(server, 0, (0, 0, 0, 0), access=1)
    assert checks.read_speed(0) == Speed(520, 50_000)
    assert checks.read_speed(1) is None


def test_devices_that_are_no_memory_are_named(server: Path) -> None:
    for name, driver in (("dax0.0", "kmem"), ("dax1.0", "device_dax")):
        folder = server / "sys/bus/dax/devices" / name
        folder.mkdir(parents=True)
        (folder / "driver").symlink_to(f"../../drivers/{driver}")
    devices = found("memory devices")
    assert devices.state == "not used as memory: dax1.0"


def test_states_of_the_policy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make(monkeypatch, tmp_path)
    assert found("policy").state == "kloc is off, and no policy is selected"
    selected = tmp_path / "sys/kernel/mm/tiering/policy"
    selected.write_text("naive\n")
    assert found("policy") == Finding("policy", True, "naive is selected, not by kloc on")
    control.turn_on(Config())
    selected.write_text("naive\n")
    assert found("policy").state == "kloc is on with kloc, but naive is selected"
    record = control.recorded()
    assert record is not None
    record.complete = False
    control._save(record)
    assert "killed" in found("policy").state and "kloc off" in found("policy").remedy


def test_settings_that_contexts_need_have_a_finding_each(server: Path) -> None:
    (server / "proc/sys/kernel/numa_balancing").write_text("0\n")
    (server / "proc/sys/vm/watermark_boost_factor").write_text("15000\n")
    settings = [one for one in checks.findings() if one.what == "settings"]
    assert [one.remedy for one in settings] == [
        "as root: echo 2 > /proc/sys/kernel/numa_balancing",
        "as root: echo 0 > /proc/sys/vm/watermark_boost_factor",
    ]
    assert not any(one.well for one in settings)


def test_demotion_is_stuck_if_kswapd_has_given_up(server: Path) -> None:
    made_up_nodes.online(server, (0, 1), unreclaimable=(0,))
    demotion = found("demotion")
    assert demotion.state.startswith("kswapd of node 0 has given up")
    assert demotion.remedy.startswith("as root: echo none > ")


def test_demotion_is_stuck_if_slow_memory_is_full(server: Path) -> None:
    made_up_nodes.online(server, (0, 1))
    free(server, {0: 5, 1: 99})
    demotion = found("demotion")
    assert demotion.state.startswith("slow memory is full (node 1)")
    assert demotion.state.endswith("; there is no swap")
    write(server, "/proc/swaps", "Filename Type Size\n/swapfile file 8388604")
    assert "no swap" not in found("demotion").state


def test_slabs_cannot_go_to_movable_memory(server: Path) -> None:
    write(server, "sys/kernel/debug/reloc/caches", "cache\tfast\ndentry\t1")
    demotion = found("demotion")
    assert "ZONE_MOVABLE" in demotion.state and "daxctl" in demotion.remedy


@pytest.mark.parametrize(
    ("path", "text", "state", "remedy"),
    [
        ("sys/module/damon_reclaim/parameters/enabled", "Y", "damon_reclaim reclaims", "echo N"),
        ("proc/sys/vm/zone_reclaim_mode", "1", "zone_reclaim_mode is 1", "zone_reclaim_mode=0"),
        ("proc/4711/comm", "memtierd", "memtierd moves memory", "systemctl stop memtierd"),
    ],
)
def test_other_mechanisms_are_named(
    path: str, text: str, state: str, remedy: str, server: Path
) -> None:
    write(server, path, text)
    others = found("other mechanisms")
    assert state in others.state and remedy in others.remedy
    assert others.remedy.startswith("two that move the same pages undo each other's work: ")
    control.turn_off()
    others = found("other mechanisms")
    assert state in others.state
    assert others.remedy.startswith("before kloc on, end what moves the same pages: ")


def test_schemes_of_damon_that_act_are_named(server: Path) -> None:
    folder = f"{checks.KDAMONDS}/0"
    write(server, f"{folder}/contexts/0/schemes/0/action", "stat")
    write(server, f"{folder}/state", "on")
    assert found("other mechanisms").well
    write(server, f"{folder}/contexts/0/schemes/1/action", "migrate_cold")
    others = found("other mechanisms")
    assert others.state == "DAMON (kdamond 0) runs migrate_cold"
    write(server, f"{folder}/state", "off")
    assert found("other mechanisms").well


def test_numa_balancing_fights_thermostat_only(server: Path) -> None:
    control.turn_on(Config(policy="thermostat"))
    assert found("other mechanisms").well
    (server / "proc/sys/kernel/numa_balancing").write_text("2\n")
    assert "thermostat" in found("other mechanisms").state


def test_a_broken_kloc_toml_is_named(server: Path) -> None:
    write(server, "etc/kloc.toml", "policy = 1")
    assert "line 1: policy" in found("kloc on").state
    write(server, "etc/kloc.toml", 'policy = "kloc-slab"')
    assert "reloc.caches=" in found("kloc on").state
    assert "update-grub" in found("kloc on").remedy
    write(server, "etc/kloc.toml", '[limits.cgroups]\n"/later" = "1G"')
    assert found("kloc on").state == "would leave out settings"


def test_who_is_not_root_sees_that(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not found("user").well


def test_the_command_prints_findings_and_fails_if_one_is_not_well(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("doctor", "--server") == 0
    assert "fast: node 0; slow: node 1" in capsys.readouterr().out
    (server / "proc/sys/kernel/numa_balancing").write_text("0\n")
    assert run("doctor", "--server", "--json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    (wrong,) = [one for one in findings if not one["well"]]
    assert wrong["what"] == "settings"
    with pytest.raises(UsageError, match="--server"):
        run("doctor", "--server", "--prune")
