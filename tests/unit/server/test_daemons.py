# SPDX-License-Identifier: GPL-2.0
"""Policies that are daemons on a server: started by kloc on, stopped by kloc off, and known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kloc.base import paths
from kloc.base.errors import KlocError
from kloc.server import checks, config, control, daemons, policy_files, system
from kloc.server.config import Config
from support import golden, made_up_server, made_up_systemd
from support.command import run
from support.made_up_nodes import write
from support.made_up_systemd import Systemd

UNIT = "kloc-policy-damo-tier.service"
BALANCING = "proc/sys/kernel/numa_balancing"
KDAMONDS = "sys/kernel/mm/damon/admin/kdamonds"

POLICY = """
summary = "s"
expect = ["promoted"]
[set]
"/proc/sys/kernel/numa_balancing" = 3
[daemon]
packages = ["damo"]
start = "exec watch --all"
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a server with DAMON, on which kloc is off."""
    root = made_up_server.make(tmp_path / "root")
    (root / KDAMONDS).mkdir(parents=True)
    write(root, f"{KDAMONDS}/1/state", "on")
    write(root, f"{KDAMONDS}/1/contexts/0/schemes/0/action", "migrate_hot")
    monkeypatch.setattr(system, "ROOT", root)
    monkeypatch.setattr(config, "DEFAULT", root / "etc/kloc.toml")
    monkeypatch.setattr(daemons, "POLL_SECONDS", 0)
    monkeypatch.setattr(daemons, "SETTLE_SECONDS", 0)
    # The commands of the real damo-tier look at files of the system that the tests run on.
    monkeypatch.setattr(policy_files, "FOLDER", tmp_path / "policies")
    (tmp_path / "policies").mkdir()
    for name in ("kloc", "stock", "tpp"):
        text = (paths.shipped("policies") / f"{name}.toml").read_text()
        (tmp_path / f"policies/{name}.toml").write_text(text)
    damo_tier(tmp_path, 'needs = ["/sys/kernel/mm/damon/admin"]\n')
    return root


@pytest.fixture
def systemd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Path) -> Systemd:
    return made_up_systemd.make(monkeypatch, tmp_path / "systemd", server)


def damo_tier(tmp_path: Path, more: str = "", name: str = "damo-tier") -> None:
    """Write a policy, with `more` in its table [daemon]."""
    (tmp_path / f"policies/{name}.toml").write_text(POLICY + more)


def turn_on(policy: str = "damo-tier") -> None:
    control.turn_on(Config(policy=policy))


def is_set(root: Path) -> bool:
    return (root / BALANCING).read_text().strip() == "3"


def test_on_starts_the_unit_after_the_settings_and_off_stops_it(
    server: Path, systemd: Systemd
) -> None:
    turn_on()
    assert systemd.units == [UNIT] and is_set(server)
    record = control.recorded()
    assert record is not None and record.complete and record.daemon == "damo-tier"
    assert systemd.script.endswith("\nexec watch --all\n")
    script = systemd.script.replace("exec watch --all", 'echo "$KLOC_SCALE $KLOC_FAST_NODES $HOME"')
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, env={})
    assert done.stdout == "1 0 /root\n"
    assert control.turn_off()
    assert systemd.units == [] and not is_set(server)
    assert not list((server / "run/kloc").glob("kloc-policy-*"))


def test_off_restores_nothing_while_the_daemon_runs(server: Path, systemd: Systemd) -> None:
    turn_on()
    systemd.write("lasting")
    with pytest.raises(KlocError, match="daemon of policy damo-tier does not stop") as error:
        control.turn_off()
    assert UNIT in str(error.value.hint)
    assert is_set(server) and control.recorded() is not None
    (systemd.directory / "lasting").unlink()
    assert control.turn_off()
    assert not is_set(server)


def test_another_policy_stops_the_daemon(server: Path, systemd: Systemd) -> None:
    turn_on()
    control.change_policy("tpp")
    record = control.recorded()
    assert record is not None and record.daemon is None
    assert systemd.units == []
    control.change_policy("damo-tier")
    assert systemd.units == [UNIT]


def test_turned_on_again_the_daemon_starts_anew(server: Path, systemd: Systemd) -> None:
    turn_on()
    turn_on()
    words = [line.split()[:2] for line in systemd.asked]
    assert words == [
        ["systemd-run", f"--unit={UNIT}"],
        ["systemctl", "stop"],
        ["systemd-run", f"--unit={UNIT}"],
    ]
    assert systemd.units == [UNIT]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("fail", "Failed to connect", "systemd-run does not start .*damo-tier: Failed to connect"),
        ("ends", "", "daemon of policy damo-tier ended at once\n    damo: the reason"),
    ],
)
def test_a_daemon_that_does_not_start_leaves_everything_as_before(
    file: str, text: str, problem: str, server: Path, systemd: Systemd
) -> None:
    before = made_up_server.values(server)
    systemd.write(file, text)
    with pytest.raises(KlocError, match=problem):
        turn_on()
    assert made_up_server.values(server) == before
    assert control.recorded() is None and systemd.units == []


def test_a_daemon_that_is_not_ready_in_time_is_stopped(
    server: Path, systemd: Systemd, tmp_path: Path
) -> None:
    damo_tier(tmp_path, 'ready = "false"\nready_seconds = 0.01\n')
    with pytest.raises(KlocError, match=r"is not ready after 0\.01 s\n    damo: the reason"):
        turn_on()
    assert systemd.units == [] and not is_set(server)


def test_the_daemon_from_before_comes_back_if_another_policy_fails(
    server: Path, systemd: Systemd, tmp_path: Path
) -> None:
    turn_on()
    # Its unit starts, and it is never ready.
    damo_tier(tmp_path, 'ready = "false"\nready_seconds = 0.01\n', name="other")
    with pytest.raises(KlocError, match="daemon of policy other is not ready"):
        control.change_policy("other")
    record = control.recorded()
    assert record is not None and record.policy == record.daemon == "damo-tier"
    assert systemd.units == [UNIT] and is_set(server)


def test_stop_has_a_command_and_a_limit(server: Path, systemd: Systemd, tmp_path: Path) -> None:
    damo_tier(tmp_path, 'stop = "damo stop"\nstop_seconds = 3\n')
    turn_on()
    (line,) = systemd.asked
    assert f"--property=ExecStop=/bin/sh /run/kloc/{UNIT}.stop" in line
    assert "--property=TimeoutStopSec=3s" in line
    assert f"--property=ExecStopPost=/bin/sh /run/kloc/{UNIT}.stop ended" in line
    script = server / f"run/kloc/{UNIT}.stop"
    assert script.read_text().endswith("\ndamo stop\n")


@pytest.mark.parametrize(
    ("arguments", "result", "stops"),
    [
        ((), "success", True),
        (("ended",), "success", False),
        (("ended",), "signal", True),
        (("ended",), "exit-code", True),
    ],
)
def test_stop_runs_once_also_if_the_daemon_was_killed(
    arguments: tuple[str, ...],
    result: str,
    stops: bool,
    server: Path,
    systemd: Systemd,
    tmp_path: Path,
) -> None:
    damo_tier(tmp_path, 'stop = "echo stopped"\n')
    turn_on()
    script = server / f"run/kloc/{UNIT}.stop"
    done = subprocess.run(
        ["sh", "-eu", script, *arguments],
        env={"PATH": "/bin", "SERVICE_RESULT": result},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n" if stops else "")


def test_programs_beside_the_policy_are_in_the_path(
    server: Path, systemd: Systemd, tmp_path: Path
) -> None:
    program = tmp_path / "policies/mine.sh"
    program.write_text("#!/bin/sh\necho mine\n")
    program.chmod(0o755)
    damo_tier(tmp_path, 'files = ["mine.sh"]\n')
    turn_on()
    script = systemd.script.replace("exec watch --all", "mine.sh")
    assert subprocess.run(["sh", "-ec", script], capture_output=True, text=True).stdout == "mine\n"


def refusals(policy: str = "damo-tier") -> list[KlocError]:
    used = policy_files.load(policy).daemon
    assert used is not None
    return list(daemons.refusals(policy, used))


def test_without_systemd_a_daemon_is_refused(server: Path) -> None:
    with pytest.raises(KlocError, match="this system runs without systemd"):
        turn_on()
    assert not is_set(server) and control.recorded() is None


def test_what_is_missing_is_named_and_never_installed(server: Path, systemd: Systemd) -> None:
    assert refusals() == []
    systemd.write("packages", "")
    (server / "sys/kernel/mm/damon/admin").rename(server / "elsewhere")
    messages = [one.message for one in refusals()]
    assert "needs /sys/kernel/mm/damon/admin, which this kernel does not have" in messages[0]
    assert messages[1].endswith("needs what is not installed: damo")
    assert refusals()[1].hint == "apt install damo"
    with pytest.raises(KlocError):
        turn_on()
    assert systemd.asked == []


def test_where_there_is_no_dpkg_packages_are_not_checked(
    server: Path, systemd: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemd.write("packages", "")
    monkeypatch.setattr(daemons.shutil, "which", lambda name: None)
    assert refusals() == []


def found(what: str) -> checks.Finding:
    (finding,) = [one for one in checks.findings() if one.what == what]
    return finding


def test_the_doctor_knows_klocs_own_daemon(server: Path, systemd: Systemd) -> None:
    write(server, "proc/4711/comm", "damo")
    write(server, "proc/4711/cgroup", f"0::/system.slice/{UNIT}")
    others = found("other mechanisms").state
    assert "damo runs schemes" in others and "kdamond 1" in others
    turn_on()
    assert found("other mechanisms").well
    assert found("policy").state.endswith(f"its daemon is {UNIT}")
    # Somebody else's.
    write(server, "proc/4712/comm", "damo")
    write(server, "proc/4712/cgroup", "0::/user.slice")
    assert found("other mechanisms").state == "damo runs schemes of DAMON"


def test_schemes_of_others_are_named_under_a_daemon_without_damon(
    server: Path, systemd: Systemd, tmp_path: Path
) -> None:
    damo_tier(tmp_path)
    turn_on()
    assert "kdamond 1" in found("other mechanisms").state


def test_a_daemon_that_has_ended_is_found(
    server: Path, systemd: Systemd, capsys: pytest.CaptureFixture[str]
) -> None:
    turn_on()
    run("status")
    assert f"its daemon runs ({UNIT})" in " ".join(capsys.readouterr().out.split())
    (systemd.directory / "units" / UNIT).unlink()
    finding = found("policy")
    assert not finding.well and "whose daemon does not run" in finding.state
    assert f"journalctl --unit={UNIT}" in finding.remedy
    assert "kdamond 1" in found("other mechanisms").state
    run("status")
    assert f"its daemon does not run ({UNIT})" in " ".join(capsys.readouterr().out.split())


def test_units_have_names_that_systemd_allows() -> None:
    assert daemons.unit("my policy/2") == "kloc-policy-my_policy_2.service"


def test_a_dry_run_prints_the_command(
    server: Path, systemd: Systemd, capsys: pytest.CaptureFixture[str]
) -> None:
    run("on", "--policy", "damo-tier", "--dry-run")
    golden.check("on-daemon", capsys.readouterr().out)
    assert systemd.asked == [] and [path.name for path in (server / "run").iterdir()] == ["systemd"]
