# SPDX-License-Identifier: GPL-2.0
"""Programs of one's own in the machine: what they find there, what is said of them, failures."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kloc.paths import PROJECT
from kloc.root import Bind, Root

pytestmark = pytest.mark.machine

SOURCES = PROJECT / "tests/plugin"
PAGES_PER_MIB = 256


def kloc_run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROJECT / "kloc", "run", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def result_of(path: Path) -> dict[str, Any]:
    (run,) = json.loads(path.read_text())["runs"]
    assert isinstance(run, dict)
    return run


def test_a_program_finds_its_files_and_what_was_set_up(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("from the host\n")
    setup = tmp_path / "setup"
    setup.write_text("echo from the setup > /data/made\n")
    result = tmp_path / "result.json"
    command = f"cat {tmp_path}/given/file /data/made; df /data | grep -c klocdisk"
    options = ["--policy", "stock", "--copy", tmp_path / "given", "--setup", setup]
    done = kloc_run(*options, "--json", result, "--", "sh", "-c", command)
    assert done.returncode == 0, done.stderr
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


def test_a_program_that_fails_gives_no_figure(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = kloc_run("--json", result, "--", "sh", "-c", "echo what went wrong; exit 3")
    assert done.returncode == 1
    assert "measured ended with status 3" in done.stderr
    assert "what went wrong" in done.stderr
    assert not result.exists()


def test_a_crash_of_the_guest_is_told_with_its_console(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = kloc_run("--json", result, "--", "sh", "-c", "echo c > /proc/sysrq-trigger")
    assert done.returncode == 1
    assert "the guest's kernel crashed" in done.stderr
    assert "sysrq" in done.stderr
    console = Path(done.stderr.split("the whole console is in ")[1].split()[0])
    assert "Kernel panic" in console.read_text(errors="replace")
    assert not result.exists()


def test_an_unknown_package_is_an_error() -> None:
    done = kloc_run("--packages", "no-such-package-at-all", "--", "true")
    assert done.returncode == 1
    assert "no-such-package-at-all" in done.stderr


@pytest.fixture(scope="module")
def hotset(tools: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hotset")
    binds = [Bind(SOURCES, Path("/sources")), Bind(folder, Path("/out"))]
    flags = ["-O2", "-static", "-pthread", "-Wall", "-Wextra", "-Werror"]
    tools.run(["gcc", *flags, "-o", "/out/hotset", "/sources/hotset.c"], binds=binds)
    return folder / "hotset"


@pytest.mark.parametrize(("threads", "milliseconds"), [(1, 600), (16, 1500)])
def test_tpp_promotes_a_hot_slow_set(
    threads: int, milliseconds: int, hotset: Path, tmp_path: Path
) -> None:
    """NUMA balancing scans by a task's own run time, which 16 threads share out."""
    megabytes, result = 24, tmp_path / "result.json"
    command = [hotset, threads, megabytes, milliseconds]
    done = kloc_run("--policy", "tpp", "--json", result, "--copy", hotset, "--", *command)
    assert done.returncode == 0, done.stderr
    run = result_of(result)
    assert run["migrated_pages"]["promoted"]["anon"] > megabytes * PAGES_PER_MIB // 2
    assert run["hint_faults"] > 0
    assert not [note for note in run["notes"] if "did nothing" in note]


def test_stock_leaves_the_same_set_where_it_is(hotset: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    options = ["--policy", "stock", "--json", result, "--copy", hotset]
    done = kloc_run(*options, "--", hotset, 1, 24, 100)
    assert done.returncode == 0, done.stderr
    run = result_of(result)
    assert sum(run["migrated_pages"]["promoted"].values()) == 0
    assert run["pages"]["slow"]["anon"] > 12 * PAGES_PER_MIB


def children_of(process: int) -> list[int]:
    return [
        int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


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
        while not (machines := [one for one in children_of(process.pid) if is_qemu(one)]):
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
