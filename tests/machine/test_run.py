# SPDX-License-Identifier: GPL-2.0
"""`kloc run` with a program of the user: files, results, failures, interruption, policies."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from kloc import cli
from kloc.base import terminal
from kloc.base.paths import PROJECT
from kloc.build import programs
from kloc.machine import job, launcher, profile
from kloc.machine.parts import prepare_parts
from kloc.results import schema
from support.in_machine import MIB_OF_PAGES, SOURCES, kloc_run, read_run

pytestmark = pytest.mark.machine


def test_a_program_has_its_copied_files_and_those_of_its_setup(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("from the host\n")
    setup = tmp_path / "setup"
    setup.write_text("echo from the setup > /data/made\n")
    result = tmp_path / "result.json"
    command = f"cat {tmp_path}/given/file /data/made; df /data | grep -c /dev/vdc"
    options = ["--policy", "stock", "--copy", tmp_path / "given", "--setup", setup]
    process = kloc_run(*options, "--json", result, "--", "sh", "-c", command)
    assert process.stdout.startswith("from the host\nfrom the setup\n1\n")
    run = read_run(result)
    assert (run["workload"], run["operations"], run["latency_ns"]) == ("sh", 1, None)
    host = profile.load(profile.DEFAULT)
    assert (run["policy"], run["seed"]) == ("stock", 1)
    assert (run["cores"], run["spare_cores"]) == (host.cores, host.spare_cores)
    assert len(run["by_core"]) == host.cores + host.spare_cores
    assert run["clock_error"] < 0.01
    assert run["instructions"]["user"] > 0
    assert set(run["migrated_pages"]) == {"promoted", "demoted"}
    assert {"t_ns", "pages_fast", "pages_slow"} <= set(run["series"])
    content = json.loads(result.read_text())
    assert content["schema"] == schema.SCHEMA
    assert {"qemu", "gcc", "linux-source", "guest", "plugin"} <= set(content["versions"])


@pytest.mark.parametrize(
    ("script", "status", "reason", "output", "logged"),
    [
        ("echo went wrong; exit 3", 3, "measured ended with status 3", "went wrong", ""),
        ("echo c > /proc/sysrq-trigger", 1, "the guest's kernel crashed", "sysrq", "Kernel panic"),
    ],
    ids=["program fails", "kernel crashes"],
)
def test_a_failed_run_reports_the_reason_and_writes_no_result(
    script: str, status: int, reason: str, output: str, logged: str, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    options = ["--policy", "tpp", "--json", result]
    process = kloc_run(*options, "--", "sh", "-c", script, status=status)
    assert f"sh: {reason}" in process.stderr
    assert output in process.stderr.split(reason)[1]
    assert logged in read_console(process.stderr)
    assert not result.exists()


def test_a_shell_fails_if_a_setting_does_not_exist() -> None:
    host = profile.load(profile.DEFAULT)
    shell = job.Job("shell", host, {}, settings={"/sys/no/such": "1"}, shell=True)
    with pytest.raises(launcher.RunFailed, match="/sys/no/such"):
        launcher.run(shell, prepare_parts(()))


def read_console(message: str) -> str:
    """Return the contents of the console file that an error message names."""
    path = message.split("console is in ")[1].split()[0]
    return Path(path).read_text(errors="replace")


@pytest.mark.parametrize(
    "script", ["while :; do :; done", "sleep infinity"], ids=["spins", "sleeps"]
)
def test_a_program_that_never_ends_is_stopped_and_its_console_shown(
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(launcher, "STAGE_MACHINE_SECONDS", 1)
    status = kloc_run_here(monkeypatch, f"--json={tmp_path}/result", "--", "sh", "-c", script)
    message = capsys.readouterr().err
    assert status == 1
    assert re.search("machine hangs: .*stage measured .*1 s", message)
    last_line = read_console(message).splitlines()[-1].strip()
    assert last_line in message
    assert not running_machines(os.getpid())
    assert not (tmp_path / "result").exists()


def test_a_machine_that_executes_nothing_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop_machine() -> None:
        while not (machines := running_machines(os.getpid())):
            time.sleep(0.1)
        os.kill(machines[0], signal.SIGSTOP)

    monkeypatch.setattr(launcher, "STUCK_SECONDS", 2)
    threading.Thread(target=stop_machine, daemon=True).start()
    assert kloc_run_here(monkeypatch, "--", "true") == 1
    message = capsys.readouterr().err
    assert re.search("machine hangs: .*2 s .*stage boot", message)
    assert not running_machines(os.getpid())


def kloc_run_here(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `kloc run` in this process, where tests can change limits, and return its status."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    terminal.stderr.cache_clear()
    return cli.main(["run", "--policy", "stock", *arguments])


def test_kernel_warnings_are_in_the_notes(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    # At the log level of kernel warnings, which the console does not show during a run.
    warn = "echo '<4>WARNING: as the kernel writes it' >/dev/kmsg"
    process = kloc_run("--policy", "stock", "--json", result, "--", "sh", "-c", f"{warn}; {warn}")
    note = "the guest's kernel printed 2 warnings"
    assert note in process.stdout + process.stderr
    assert note in read_run(result)["notes"]


def test_an_unknown_package_is_an_error() -> None:
    process = kloc_run("--packages", "no-such-package-at-all", "--", "true", status=1)
    assert "no-such-package-at-all" in process.stderr


@pytest.fixture(scope="module")
def hotset() -> Path:
    return programs.build(SOURCES / "hotset.c")


def test_following_a_run_does_not_change_its_result(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    fill = "BEGIN { for (i = 0; i < 4000000; i++) a[i % 200000] = i; print length(a) }"
    documents = []
    for options in ([], ["--follow"]):
        process = kloc_run("--policy", "tpp", *options, "--json", result, "--", "awk", fill)
        documents.append(json.loads(result.read_text()))
    assert documents[0] == documents[1]
    # Not in each line: a line after its end has no pages of awk, and may have no stalls.
    assert re.search(
        r"awk: measured.* promoted 0, .* fast pages: .*\banon \d,.* fast stall[^:]*: anon \d",
        process.stderr,
    )


@pytest.mark.parametrize(("threads", "milliseconds"), [(1, 400), (16, 800)])
def test_tpp_promotes_a_hot_working_set_in_slow_memory(
    threads: int, milliseconds: int, hotset: Path, tmp_path: Path
) -> None:
    """NUMA balancing scans in proportion to a task's run time, so 16 threads need more time."""
    megabytes, result = 24, tmp_path / "result.json"
    command = [hotset, threads, megabytes, milliseconds]
    kloc_run("--policy", "tpp", "--json", result, "--copy", hotset, "--", *command)
    run = read_run(result)
    assert run["migrated_pages"]["promoted"]["anon"] > megabytes * MIB_OF_PAGES // 2
    promoted = run["moved_pages"]["promoted"]
    assert promoted["hint_fault"] > megabytes * MIB_OF_PAGES // 2
    assert sum(promoted.values()) == sum(run["migrated_pages"]["promoted"].values())
    assert run["series"]["moved"]["promoted"]["hint_fault"][-1] == promoted["hint_fault"]
    assert run["hint_faults"] > 0
    assert not [note for note in run["notes"] if "did nothing" in note]


def test_stock_leaves_the_same_working_set_in_slow_memory(hotset: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    options = ["--policy", "stock", "--json", result, "--copy", hotset]
    kloc_run(*options, "--", hotset, 1, 24, 100)
    run = read_run(result)
    assert sum(run["migrated_pages"]["promoted"].values()) == 0
    assert run["pages"]["slow"]["anon"] > 12 * MIB_OF_PAGES


def running_machines(pid: int) -> list[int]:
    """Return the ids of the children of a process that run QEMU."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if is_qemu(int(child))]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_run_leaves_no_machine_and_no_result(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    command = [f"{PROJECT}/kloc", "run", "--policy", "tpp", "--json", f"{result}"]
    process = subprocess.Popen(
        [*command, "--", "sh", "-c", "while :; do :; done"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # The shell of a background job may have set SIGINT to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        deadline = time.monotonic() + 60
        while not (machines := running_machines(process.pid)):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(timeout=30) == status
        time.sleep(0.5)
        assert not any(is_qemu(machine) for machine in machines)
        assert not result.exists()
    finally:
        process.kill()


def is_qemu(pid: int) -> bool:
    """Return whether a process runs QEMU and is not a zombie."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return status.startswith("Name:\tqemu-system") and "State:\tZ" not in status
