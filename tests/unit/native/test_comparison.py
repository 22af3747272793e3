# SPDX-License-Identifier: GPL-2.0
"""kloc compare --native on a made-up server: order, settings during runs, and every kind of end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kloc.server import config, control, system
from support import made_up_tiers
from support.made_up_tiers import needs_namespaces

pytestmark = needs_namespaces

LONG = 300.0
"""Seconds that nothing takes here, however busy the host is."""

POLICIES = ("stock", "tpp", "kloc")

# Writes which policy was set when it ran. It is one of the host's, with the host's files.
LOOK = """
cd {root}
echo "$(cat sys/kernel/mm/tiering/policy) $(cat proc/sys/kernel/numa_balancing)" >>{log}
"""
SETTINGS = {"stock": "none 0", "tpp": "none 2", "kloc": "kloc 2"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    root = made_up_tiers.make(tmp_path / "root")
    monkeypatch.setattr(system, "ROOT", root)
    return root


def compare(root: Path, script: str, *options: str) -> subprocess.Popen[str]:
    """Start a comparison of a script, whose files are beside `root`."""
    file = root.parent / "script"
    file.write_text(script)
    scratch = ["--scratch", str(root.parent / "scratch")]
    argv = ["compare", "--native", "--json", "-", *scratch, *options]
    return made_up_tiers.start(root, *argv, "--", "sh", "-e", str(file))


def finish(kloc: subprocess.Popen[str], status: int = 0) -> tuple[Any, str]:
    """Return the document that a comparison has printed, None if none, and its messages."""
    out, errors = kloc.communicate(timeout=LONG)
    assert kloc.returncode == status, errors
    return json.loads(out) if out else None, errors


def assert_nothing_is_left(root: Path, before: dict[str, str]) -> None:
    assert made_up_tiers.settings(root) == before
    assert not (root.parent / "scratch/kloc-native").exists()


def wait_for(path: Path) -> None:
    until = time.monotonic() + LONG
    while not path.exists():
        assert time.monotonic() < until, f"there is no {path}"
        time.sleep(0.01)


def is_running(mark: str) -> bool:
    """Return whether a process has `mark` as an argument."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def wait_until_ended(mark: str) -> None:
    until = time.monotonic() + LONG
    while is_running(mark):
        assert time.monotonic() < until, f"{mark} runs still"
        time.sleep(0.01)


def test_each_round_has_every_policy_once_and_its_settings(server: Path) -> None:
    before, log = made_up_tiers.settings(server), server.parent / "log"
    document, _ = finish(compare(server, LOOK.format(root=server, log=log), "--rounds", "3"))
    runs = document["runs"]
    assert [run["round"] for run in runs] == [1] * 3 + [2] * 3 + [3] * 3
    assert [run["place"] for run in runs] == [1, 2, 3] * 3
    for number in (1, 2, 3):
        of_round = [run["policy"] for run in runs if run["round"] == number]
        assert sorted(of_round) == sorted(POLICIES)
    assert len({tuple(run["policy"] for run in runs[at : at + 3]) for at in (0, 3, 6)}) > 1
    assert log.read_text().splitlines() == [SETTINGS[run["policy"]] for run in runs]
    for run in runs:
        assert run["settings"]["/proc/sys/kernel/numa_balancing"] == SETTINGS[run["policy"]][-1]
    assert_nothing_is_left(server, before)
    assert control.recorded() is None
    assert (server / "proc/sys/vm/drop_caches").read_text() == "3\n"


def test_the_verdict_is_that_of_results(server: Path) -> None:
    script = f"[ $(cat {server}/proc/sys/kernel/numa_balancing) = 2 ] || sleep 0.5\nsleep 0.05\n"
    options = ("--policies", "tpp,stock", "--rounds", "3")
    document, messages = finish(compare(server, script, *options))
    (compared,) = document["against"]["comparisons"]
    assert document["against"]["baseline"] == "tpp"
    assert (compared["policy"], compared["verdict"]) == ("stock", "behind")
    assert list(compared["by_seed"]) == ["1", "2", "3"]
    assert compared["high"] < 0.5
    assert "round 3 of 3: sh under" in messages


def test_the_same_seed_draws_the_same_order(server: Path) -> None:
    def order(seed: str) -> list[str]:
        options = ("--dry-run", "--rounds", "4", "--seed", seed)
        out, _ = compare(server, "", *options).communicate(timeout=LONG)
        return re.findall(r"^round .*$", out, re.M)

    assert order("1") == order("1") != order("2")


def test_a_failing_run_restores_everything_and_keeps_the_rounds_before(server: Path) -> None:
    before, log = made_up_tiers.settings(server), server.parent / "log"
    script = f"echo x >>{log}\necho reason\ntest $(wc -l <{log}) -lt 5\n"
    document, messages = finish(compare(server, script), 1)
    assert len(document["runs"]) == 4
    assert re.search(
        r"round 2 of 5: sh under \w+: measured ended with status 1\n  reason", messages
    )
    assert_nothing_is_left(server, before)
    assert control.recorded() is None


def test_a_program_that_does_not_exist_is_named(server: Path) -> None:
    argv = ["compare", "--native", "--scratch", str(server.parent / "scratch"), "--", "/no/such"]
    _, messages = made_up_tiers.start(server, *argv).communicate(timeout=LONG)
    assert "/no/such: not found" in messages


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_everything_and_ends_the_processes(
    server: Path, number: signal.Signals
) -> None:
    before, ready, mark = made_up_tiers.settings(server), server.parent / "ready", "3000.301"
    script = f"setsid sleep {mark} &\ntouch {ready}\nsleep {mark}\n"
    kloc = compare(server, script, "--policies", "tpp,kloc")
    wait_for(ready)
    assert is_running(mark)
    assert made_up_tiers.settings(server) != before
    kloc.send_signal(number)
    document, messages = finish(kloc, 130)
    assert document is None and "interrupted" in messages
    wait_until_ended(mark)
    assert_nothing_is_left(server, before)
    assert control.recorded() is None


def test_several_signals_change_nothing(server: Path) -> None:
    before, ready = made_up_tiers.settings(server), server.parent / "ready"
    kloc = compare(server, f"touch {ready}\nsleep 3000\n")
    wait_for(ready)
    for _ in range(20):
        kloc.send_signal(signal.SIGINT)
        time.sleep(0.005)
    kloc.communicate(timeout=LONG)
    assert kloc.returncode != 0
    assert made_up_tiers.settings(server) == before
    assert control.recorded() is None


def test_after_a_kill_the_processes_end_and_off_restores_everything(server: Path) -> None:
    before, ready, mark = made_up_tiers.settings(server), server.parent / "ready", "3000.302"
    script = f"setsid sleep {mark} &\ntouch {ready}\nsleep {mark}\n"
    kloc = compare(server, script, "--policies", "tpp,kloc")
    wait_for(ready)
    kloc.send_signal(signal.SIGKILL)
    kloc.communicate(timeout=LONG)
    wait_until_ended(mark)
    assert made_up_tiers.settings(server) != before
    record = control.recorded()
    assert record is not None and not record.complete
    # Another comparison does not take the settings of the killed one for those of before.
    _, messages = finish(compare(server, "true\n"), 1)
    assert "kloc off restores" in messages
    assert control.turn_off()
    assert made_up_tiers.settings(server) == before
    # What the kill has left in the scratch directory is removed by the next one.
    finish(compare(server, "true\n", "--rounds", "1"))
    assert_nothing_is_left(server, before)


@pytest.mark.parametrize("end", ["success", "failure", "signal"])
def test_kloc_that_was_on_is_on_again_exactly_as_before(server: Path, end: str) -> None:
    file = server.parent / "kloc.toml"
    file.write_text('[settings]\npin = 4\n[limits.cgroups]\n"/database.slice" = "1G"\n')
    control.turn_on(config.read(file))
    control.set_limits([("/sys/kernel/mm/tiering/node0/max_kb", "512")])
    # Changed by hand since then, and to stay so.
    (server / "sys/kernel/mm/tiering/pin").write_text("5\n")
    before, record = made_up_tiers.settings(server), control.recorded()
    ready = server.parent / "ready"
    script = {"success": "true\n", "failure": "false\n", "signal": f"touch {ready}\nsleep 3000\n"}
    kloc = compare(server, script[end], "--rounds", "1")
    if end == "signal":
        wait_for(ready)
        kloc.send_signal(signal.SIGTERM)
    document, _ = finish(kloc, {"success": 0, "failure": 1, "signal": 130}[end])
    assert_nothing_is_left(server, before)
    assert control.recorded() == record
    if document is not None:
        assert document["native"]["kloc_was"] == "kloc"
        tpp = next(run for run in document["runs"] if run["policy"] == "tpp")
        # What kloc.toml and kloc limit say is kept, as with kloc policy.
        assert tpp["settings"]["/sys/kernel/mm/tiering/pin"] == "4"
        assert tpp["settings"]["/sys/fs/cgroup/database.slice/memory.kloc.max"] == str(1 << 30)


def test_settings_that_somebody_changes_meanwhile_are_left_alone(server: Path) -> None:
    ready, go = server.parent / "ready", server.parent / "go"
    kloc = compare(server, f"touch {ready}\nuntil [ -e {go} ]; do sleep 0.01; done\n")
    wait_for(ready)
    control.turn_off()
    control.turn_on(config.Config(policy="tpp"))
    changed, record = made_up_tiers.settings(server), control.recorded()
    go.touch()
    _, messages = finish(kloc, 1)
    assert "run during the measurement" in messages
    assert made_up_tiers.settings(server) == changed
    assert control.recorded() == record


def test_two_comparisons_do_not_run_at_once(server: Path) -> None:
    ready, go = server.parent / "ready", server.parent / "go"
    first = compare(
        server, f"touch {ready}\nuntil [ -e {go} ]; do sleep 0.01; done\n", "--rounds=1"
    )
    wait_for(ready)
    second = made_up_tiers.start(server, "compare", "--native", "--", "true")
    _, messages = finish(second, 1)
    assert "is running" in messages
    go.touch()
    finish(first)


def test_setup_and_warm_ups_run_before_the_measured_part(server: Path) -> None:
    log, setup = server.parent / "log", server.parent / "setup"
    setup.write_text(f"echo setup >>{log}\n")
    options = ("--rounds=1", "--policies=tpp,stock", f"--setup={setup}", "--warm-up=2")
    document, _ = finish(compare(server, f"echo run >>{log}\n", *options))
    assert log.read_text().split() == ["setup", "run", "run", "run"] * 2
    assert not document["runs"][0]["cold"]


def test_the_environment_and_directory_are_those_of_the_caller(server: Path) -> None:
    log = server.parent / "log"
    finish(compare(server, f'echo "$PWD $COLUMNS $$" >>{log}\n', "--rounds=1"))
    directory, columns, process = log.read_text().splitlines()[0].rsplit(" ", 2)
    assert (directory, columns) == (str(Path.cwd()), "200")
    # In a PID namespace of its own.
    assert int(process) < 100


def test_a_workload_of_kloc_runs_with_its_own_program(server: Path) -> None:
    before = made_up_tiers.settings(server)
    options = ("--rounds=1", "--policies=tpp,stock", "--load=1/64", "--seconds=0.1")
    scratch = f"--scratch={server.parent}/scratch"
    kloc = made_up_tiers.start(
        server, "compare", "--native", "smallfiles", "--json=-", scratch, *options
    )
    document, _ = finish(kloc)
    assert [run["workload"] for run in document["runs"]] == ["smallfiles"] * 2
    for run in document["runs"]:
        assert run["operations"] > 1000 and run["seconds"] > 0
        assert run["size"] == {"load": 1 / 64, "seconds": 0.1}
    assert set(document["versions"]["packages"]) <= {"gcc", "iproute2", "libc6-dev"}
    assert_nothing_is_left(server, before)
