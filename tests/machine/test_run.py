# SPDX-License-Identifier: GPL-2.0
"""Programs of one's own in the machine: what they find there, what is said of them, failures."""

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
from support.in_machine import MIB_OF_PAGES, SOURCES, kloc_run, result_of

pytestmark = pytest.mark.machine


def test_a_program_finds_its_files_and_what_was_set_up(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("from the host\n")
    setup = tmp_path / "setup"
    setup.write_text("echo from the setup > /data/made\n")
    result = tmp_path / "result.json"
    command = f"cat {tmp_path}/given/file /data/made; df /data | grep -c klocdisk"
    options = ["--policy", "stock", "--copy", tmp_path / "given", "--setup", setup]
    done = kloc_run(*options, "--json", result, "--", "sh", "-c", command)
    assert done.stdout.startswith("from the host\nfrom the setup\n1\n")
    run = result_of(result)
    assert (run["workload"], run["operations"], run["latency_ns"]) == ("sh", 1, None)
    assert (run["policy"], run["seed"], run["cores"], run["computed"]) == ("stock", 1, 1, False)
    assert run["clock_error"] < 0.01
    assert run["instructions"]["user"] > 0
    assert set(run["migrated_pages"]) == {"promoted", "demoted"}
    assert {"t_ns", "pages_fast", "pages_slow"} <= set(run["series"])
    content = json.loads(result.read_text())
    assert content["schema"] == 1
    assert {"qemu", "gcc", "linux-source", "guest", "plugin"} <= set(content["versions"])


@pytest.mark.parametrize(
    ("script", "reason", "told", "logged"),
    [
        ("echo went wrong; exit 3", "measured ended with status 3", "went wrong", ""),
        ("echo c > /proc/sysrq-trigger", "the guest's kernel crashed", "sysrq", "Kernel panic"),
    ],
    ids=["program fails", "kernel crashes"],
)
def test_a_run_that_fails_says_why_and_gives_no_figure(
    script: str, reason: str, told: str, logged: str, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    done = kloc_run("--json", result, "--", "sh", "-c", script, status=1)
    assert f"sh: {reason}" in done.stderr
    assert told in done.stderr.split(reason)[1]
    assert logged in console_of(done.stderr)
    assert not result.exists()


def test_a_shell_that_cannot_be_set_up_is_a_failure() -> None:
    host = profile.load(profile.DEFAULT)
    shell = job.Job("shell", host, {}, settings={"/sys/no/such": "1"}, shell=True)
    with pytest.raises(launcher.RunFailed, match="the kernel has no /sys/no/such"):
        launcher.run(shell, prepare_parts(()))


def console_of(message: str) -> str:
    path = message.split("the whole console is in ")[1].split()[0]
    return Path(path).read_text(errors="replace")


@pytest.mark.parametrize(
    "script", ["while :; do :; done", "sleep infinity"], ids=["spins", "sleeps"]
)
def test_a_program_that_never_ends_is_told_with_the_console(
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(launcher, "STAGE_MACHINE_SECONDS", 1)
    status = kloc_run_here(monkeypatch, f"--json={tmp_path}/result", "--", "sh", "-c", script)
    message = capsys.readouterr().err
    assert status == 1
    assert "the machine hangs: stage measured lasts over 1 s of its own time" in message
    last_line = console_of(message).splitlines()[-1].strip()
    assert last_line in message
    assert not running_machines(os.getpid())
    assert not (tmp_path / "result").exists()


def test_a_machine_that_executes_nothing_is_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> None:
        while not (machines := running_machines(os.getpid())):
            time.sleep(0.1)
        os.kill(machines[0], signal.SIGSTOP)

    monkeypatch.setattr(launcher, "STUCK_SECONDS", 2)
    threading.Thread(target=stop, daemon=True).start()
    assert kloc_run_here(monkeypatch, "--", "true") == 1
    message = capsys.readouterr().err
    assert "the machine hangs: it executed nothing for 2 s in stage boot" in message
    assert not running_machines(os.getpid())


def kloc_run_here(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run it in this process, so that limits can be changed."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    terminal.stderr.cache_clear()
    return cli.main(["run", "--policy", "stock", *arguments])


def test_warnings_of_the_kernel_are_noted(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    # As the kernel logs them: too little for the console in a run.
    warn = "echo '<4>WARNING: as the kernel writes it' >/dev/kmsg"
    done = kloc_run("--policy", "stock", "--json", result, "--", "sh", "-c", f"{warn}; {warn}")
    assert "the guest's kernel printed 2 warnings" in done.stdout + done.stderr
    assert "the guest's kernel printed 2 warnings" in result_of(result)["notes"]


def test_an_unknown_package_is_an_error() -> None:
    done = kloc_run("--packages", "no-such-package-at-all", "--", "true", status=1)
    assert "no-such-package-at-all" in done.stderr


@pytest.fixture(scope="module")
def hotset() -> Path:
    return programs.build(SOURCES / "hotset.c")


def test_to_follow_a_run_changes_nothing_in_it(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    fill = "BEGIN { for (i = 0; i < 3000000; i++) a[i % 300000] = i; print length(a) }"
    documents = []
    for options in ([], ["--follow"]):
        done = kloc_run(*options, "--json", result, "--", "awk", fill)
        documents.append(json.loads(result.read_text()))
    assert documents[0] == documents[1]
    shown = [line for line in done.stderr.splitlines() if "awk: measured" in line]
    assert re.search(
        r"promoted 0, .* fast pages: .*\banon \d,.* fast stalls, ms: anon \d", shown[-1]
    )


@pytest.mark.parametrize(("threads", "milliseconds"), [(1, 600), (16, 1500)])
def test_tpp_promotes_a_hot_slow_set(
    threads: int, milliseconds: int, hotset: Path, tmp_path: Path
) -> None:
    """NUMA balancing scans by a task's own run time, which 16 threads share out."""
    megabytes, result = 24, tmp_path / "result.json"
    command = [hotset, threads, megabytes, milliseconds]
    kloc_run("--policy", "tpp", "--json", result, "--copy", hotset, "--", *command)
    run = result_of(result)
    assert run["migrated_pages"]["promoted"]["anon"] > megabytes * MIB_OF_PAGES // 2
    promoted = run["moved_pages"]["promoted"]
    assert promoted["hint_fault"] > megabytes * MIB_OF_PAGES // 2
    assert sum(promoted.values()) == sum(run["migrated_pages"]["promoted"].values())
    assert run["series"]["moved"]["promoted"]["hint_fault"][-1] == promoted["hint_fault"]
    assert run["hint_faults"] > 0
    assert not [note for note in run["notes"] if "did nothing" in note]


def test_stock_leaves_the_same_set_where_it_is(hotset: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    options = ["--policy", "stock", "--json", result, "--copy", hotset]
    kloc_run(*options, "--", hotset, 1, 24, 100)
    run = result_of(result)
    assert sum(run["migrated_pages"]["promoted"].values()) == 0
    assert run["pages"]["slow"]["anon"] > 12 * MIB_OF_PAGES


def running_machines(process: int) -> list[int]:
    """Return those of a process's children that run QEMU."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in children if is_qemu(int(child))]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_what_is_interrupted_leaves_nothing_running(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    command = [f"{PROJECT}/kloc", "run", "--json", f"{result}"]
    process = subprocess.Popen(
        [*command, "--", "sh", "-c", "while :; do :; done"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A background job's shell may have it ignored.
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
        assert not any(is_qemu(one) for one in machines)
        assert not result.exists()
    finally:
        process.kill()


def is_qemu(process: int) -> bool:
    """Whether this process runs QEMU; one that ended and was not waited for does not."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return status.startswith("Name:\tqemu-system") and "State:\tZ" not in status
