# SPDX-License-Identifier: GPL-2.0
"""kloc on, off, policy, limit and doctor in the machine, on kloc's kernel, and kills of kloc on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.in_machine import run_script, split_parts

pytestmark = pytest.mark.machine

FILES = (
    "/sys/kernel/mm/tiering/policy",
    "/sys/kernel/mm/tiering/rate_mbps",
    "/sys/kernel/mm/kloc/scope",
    "/sys/kernel/mm/kloc/kinds",
    "/sys/kernel/mm/numa/demotion_enabled",
    "/sys/kernel/mm/lru_gen/enabled",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/vm/watermark_boost_factor",
    "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms",
    "/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms",
    "/sys/fs/cgroup/a/memory.kloc.max",
    "/sys/fs/cgroup/a/memory.kloc.enabled",
    "/sys/kernel/mm/tiering/node0/max_kb",
)
"""What kloc sets here; the last one exists only under a policy that places page cache."""

CONFIG = """\
policy = "kloc"
contexts = "chosen"
chosen = ["/a"]
kinds = ["file"]
[settings]
rate_mbps = 64
[limits.nodes]
node0 = "64M"
[limits.cgroups]
"/a" = "8M"
"""

KILLED = """
import os, signal, sys
sys.path.insert(0, "/kloc/src")
from kloc.server import config, control, system
write, left = system.write, int(sys.argv[1])
def count(path, text):
    global left
    write(path, text)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
system.write = count
control.turn_on(config.read())
"""
"""Turns kloc on, and is killed after a number of writes."""

SCRIPT = f"""
part() {{ echo "== $1"; }}
values() {{ for file in {" ".join(FILES)}; do echo "$file $(cat $file 2>&1)"; done; }}
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/a
mkdir /etc/kloc
cat >/etc/kloc/kloc.toml <<'END'
{CONFIG}END
cat >/run/killed.py <<'END'
{KILLED}END
part before; values
part check; kloc config check
part refused; kloc on --policy kloc-slab 2>&1 || true
part unchanged; values
part on; kloc on
part set; values
part status; kloc status --json
part again; kloc on; values
part limit; kloc limit node0 32M; kloc limit; kloc limit /a max; values
part policy; kloc policy thermostat 2>&1; values
part back; kloc policy kloc; values
part doctor; kloc doctor --server --json || true
part off; kloc off; values
part off_again; kloc off
for writes in 1 4 7 10; do
    part killed$writes; python3 /run/killed.py $writes 2>/dev/null || echo $?; kloc off
    part restored$writes; values
done
part left; ls /run/kloc
"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SCRIPT printed, by name."""
    directory = tmp_path_factory.mktemp("control")
    setup = f"exec >/run/printed\n{SCRIPT}"
    return split_parts(run_script(directory, "naive", setup, "cat /run/printed", "--with-kloc"))


def values(part: str) -> dict[str, str]:
    """Return the values that a part of the output ends with, by the last parts of their paths."""
    lines = [line.split(" ", 1) for line in part.splitlines() if line.startswith(("/sys", "/proc"))]
    return {"/".join(path.split("/")[-2:]): text for path, text in lines}


def test_on_sets_what_kloc_toml_says(parts: dict[str, str]) -> None:
    assert parts["check"] == "/etc/kloc/kloc.toml is valid: policy kloc\n"
    assert parts["on"] == "kloc is on: policy kloc, /etc/kloc/kloc.toml\n"
    now = values(parts["set"])
    assert now["tiering/policy"] == "kloc"
    assert (now["kloc/scope"], now["kloc/kinds"]) == ("chosen", "file")
    assert now["tiering/rate_mbps"] == "64"
    assert now["kernel/numa_balancing"] == "2"
    assert now["numa/demotion_enabled"] == "true"
    assert now["vm/watermark_boost_factor"] == "0"
    # Periods are those of a server, and not divided by the machine's scale.
    assert now["numa_balancing/scan_period_min_ms"] == "1000"
    assert now["node0/max_kb"] == str(64 << 10)
    assert (now["a/memory.kloc.max"], now["a/memory.kloc.enabled"]) == (str(8 << 20), "1")
    assert values(parts["again"]) == now
    status = json.loads(parts["status"])
    assert status["on"] == {"policy": "kloc", "config": "/etc/kloc/kloc.toml"}
    assert status["limits"]["cgroups"]["/a"]["max"] == str(8 << 20)


def test_what_the_kernel_lacks_is_refused_and_nothing_changes(parts: dict[str, str]) -> None:
    refused = " ".join(parts["refused"].split())
    assert "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache" in refused
    assert "/etc/default/grub" in refused
    assert values(parts["unchanged"]) == values(parts["before"])


def test_limits_and_the_policy_change_at_run_time(parts: dict[str, str]) -> None:
    assert "node0" in parts["limit"] and "32.0" in parts["limit"] and "8.0" in parts["limit"]
    now = values(parts["limit"])
    assert (now["node0/max_kb"], now["a/memory.kloc.max"]) == (str(32 << 10), "max")
    other = values(parts["policy"])
    assert other["tiering/policy"] == "thermostat"
    assert other["kernel/numa_balancing"] == "0"
    assert other["tiering/rate_mbps"] == "64"
    assert "No such file" in other["node0/max_kb"]
    assert "node0/max_kb does not exist under policy thermostat" in " ".join(
        parts["policy"].split()
    )
    assert values(parts["back"]) == now


def test_off_restores_what_was_there_before(parts: dict[str, str]) -> None:
    assert parts["off"].startswith("kloc is off, and what it had set is restored\n")
    assert values(parts["off"]) == values(parts["before"])
    assert parts["off_again"] == "kloc is off\n"
    assert values(parts["before"])["tiering/policy"] == "naive"


@pytest.mark.parametrize("writes", [1, 4, 7, 10])
def test_a_kloc_on_that_is_killed_is_undone_by_off(parts: dict[str, str], writes: int) -> None:
    killed = parts[f"killed{writes}"].splitlines()
    assert killed[-1] == "kloc is off, and what it had set is restored"
    assert killed[0] == "137"
    assert values(parts[f"restored{writes}"]) == values(parts["before"])


def test_no_record_is_left(parts: dict[str, str]) -> None:
    left = set(parts["left"].split())
    assert "server.lock" in left and "server.json" not in left


def test_doctor_finds_the_machine_well(parts: dict[str, str]) -> None:
    findings: list[dict[str, Any]] = json.loads(parts["doctor"])["findings"]
    by_name = {finding["what"]: finding for finding in findings}
    for name in ("kernel", "tiers", "firmware", "policy", "demotion", "other mechanisms"):
        assert by_name[name]["well"], by_name[name]
    assert "fast: node 0" in by_name["tiers"]["state"]
