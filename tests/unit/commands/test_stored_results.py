# SPDX-License-Identifier: GPL-2.0
"""A comparison that was stopped, even by kill -9, goes on where it was, and ends the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kloc.base import cache, files, terminal
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.commands import compare
from kloc.measure.runner import Incomplete, Interrupted
from support import fake_machines, made_up
from support.command import run

COMPARE = ("compare", "redis", "shift", "--policies", "all-slow,tpp,oracle,all-fast", "--seeds=2")
ALL = 2 * 4 * 2
"""The runs of COMPARE."""


@pytest.fixture(autouse=True)
def machines(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stdout.cache_clear()
    fake_machines.install(monkeypatch.setattr)


@pytest.fixture
def whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[bytes, str]:
    """The file of an uninterrupted comparison, and what it prints."""
    path = tmp_path / "whole.json"
    assert run(*COMPARE, f"--json={path}") == 0
    assert len(fake_machines.ran) == ALL
    fake_machines.ran.clear()
    return path.read_bytes(), capsys.readouterr().out


def without(path: Path, *policies: str) -> Path:
    """Remove the runs under these policies from a result file."""
    content = json.loads(path.read_text())
    content["runs"] = [one for one in content["runs"] if one["policy"] not in policies]
    files.write_json(path, content)
    return path


def changed(path: Path, **changes: Any) -> Path:
    """Change keys of a result file."""
    files.write_json(path, {**json.loads(path.read_text()), **changes})
    return path


@pytest.mark.parametrize("finished", [1, 4, ALL - 1])
def test_an_interrupted_comparison_goes_on_and_ends_the_same(
    finished: int,
    whole: tuple[bytes, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "part.json"
    fake_machines.faults["stop"] = finished
    with pytest.raises(Interrupted):
        run(*COMPARE, f"--json={path}")
    assert len(json.loads(path.read_text())["runs"]) == finished
    first = list(fake_machines.ran)
    fake_machines.ran.clear()
    fake_machines.faults.clear()
    capsys.readouterr()
    assert run(*COMPARE, f"--resume={path}") == 0
    assert (path.read_bytes(), capsys.readouterr().out) == whole
    again = set(first) & set(fake_machines.ran)
    assert all("all-slow" in one for one in again)


def test_nothing_is_run_if_nothing_is_missing(
    whole: tuple[bytes, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "whole.json"
    assert run(*COMPARE, "--resume", str(path)) == 0
    assert fake_machines.ran == []
    assert (path.read_bytes(), capsys.readouterr().out) == whole


def test_the_list_of_a_dry_run_has_only_missing_runs(
    whole: tuple[bytes, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = without(tmp_path / "whole.json", "tpp")
    assert run(*COMPARE, f"--resume={path}", "--dry-run") == 0
    *lines, total = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(" under tpp," in line for line in lines)
    assert total.startswith("4 runs")


def test_the_results_go_to_another_file_if_one_is_named(
    whole: tuple[bytes, str], tmp_path: Path
) -> None:
    path = without(tmp_path / "whole.json", "tpp")
    before = path.read_bytes()
    assert run(*COMPARE, f"--resume={path}", f"--json={tmp_path}/other.json") == 0
    assert path.read_bytes() == before
    assert (tmp_path / "other.json").read_bytes() == whole[0]


def test_the_file_is_written_if_the_results_are_also_printed_as_json(
    whole: tuple[bytes, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = without(tmp_path / "whole.json", "tpp")
    assert run(*COMPARE, f"--resume={path}", "--json", "-") == 0
    assert path.read_bytes() == whole[0] == capsys.readouterr().out.encode()


def test_all_slow_is_measured_again_for_the_oracle(
    whole: tuple[bytes, str], tmp_path: Path
) -> None:
    path = without(tmp_path / "whole.json", "oracle")
    assert run(*COMPARE, f"--resume={path}") == 0
    assert sorted(fake_machines.ran) == sorted(
        f"{name} {policy} {seed}"
        for name in ("redis", "shift")
        for policy in ("all-slow", "oracle")
        for seed in (1, 2)
    )
    assert path.read_bytes() == whole[0]


def test_the_oracle_needs_no_result_of_all_slow(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    command = ("compare", "redis", "--policies=tpp,oracle")
    assert run(*command, f"--json={path}") == 0
    both = path.read_bytes()
    assert run(*command, f"--resume={without(path, 'oracle')}") == 0
    assert fake_machines.ran[-2:] == ["redis all-slow 1", "redis oracle 1"]
    assert path.read_bytes() == both


def test_all_slow_that_does_not_repeat_itself_fails_the_oracle(
    whole: tuple[bytes, str], tmp_path: Path
) -> None:
    path = without(tmp_path / "whole.json", "oracle")
    before = path.read_bytes()
    fake_machines.faults["speed"] = 2
    with pytest.raises(Incomplete, match=r"redis under all-slow, seed 1 .*throughput.* not repeat"):
        run(*COMPARE, f"--resume={path}")
    # It is not tried again without a warm-up.
    assert len(fake_machines.ran) == 4
    assert path.read_bytes() == before


def test_policies_seeds_and_workloads_can_be_added(
    whole: tuple[bytes, str], tmp_path: Path
) -> None:
    path = tmp_path / "part.json"
    assert run("compare", "redis", "--policies=tpp", f"--json={path}") == 0
    assert run(*COMPARE, f"--resume={path}") == 0
    assert path.read_bytes() == whole[0]


def test_other_results_of_the_file_are_kept_last(whole: tuple[bytes, str], tmp_path: Path) -> None:
    path = without(tmp_path / "whole.json", "tpp")
    assert run("compare", "shift", "--policies=tpp", f"--resume={path}") == 0
    assert fake_machines.ran == ["shift tpp 1"]
    content = json.loads(path.read_text())
    assert len(content["runs"]) == ALL - 3
    assert (content["runs"][0]["workload"], content["runs"][0]["policy"]) == ("shift", "tpp")
    assert content["versions"]["guest"].keys() == {"libc6", "redis", "shift"}


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"versions": {"qemu": "9"}}, (), "versions.qemu: 9 vs. 10"),
        ({"kernel": {"release": "6.12.1", "series": "b"}}, (), "kernel.series: b vs. abc"),
        ({}, ("--quick",), "sizes: full size vs. quick"),
        ({}, ("--cold",), "warm-up: before the region vs. none"),
        ({}, ("--machine=cxl",), "machine.name: tiered vs. cxl"),
    ],
)
def test_a_file_that_was_measured_otherwise_is_refused_and_kept(
    changes: dict[str, Any],
    options: tuple[str, ...],
    words: str,
    whole: tuple[bytes, str],
    tmp_path: Path,
) -> None:
    path = changed(without(tmp_path / "whole.json", "tpp"), **changes)
    before = path.read_bytes()
    for dry in ((), ("--dry-run",)):
        with pytest.raises(KlocError) as refused:
            run(*COMPARE, *options, f"--resume={path}", *dry)
        assert f"    {words}" in refused.value.message.splitlines()
        assert str(path) in refused.value.message
        assert "--json FILE" in (refused.value.hint or "")
    assert fake_machines.ran == [] and path.read_bytes() == before


def test_a_file_with_other_inputs_is_refused_with_their_names(
    whole: tuple[bytes, str], tmp_path: Path
) -> None:
    path = without(tmp_path / "whole.json", "tpp")
    before = path.read_bytes()
    fake_machines.faults["kernel"] = "9ab0c1d2e3f40000"
    for dry in ((), ("--dry-run",)):
        with pytest.raises(KlocError) as refused:
            run(*COMPARE, f"--resume={path}", *dry)
        assert refused.value.message.splitlines()[1:] == [
            "    inputs of redis/*: kernel 71c8aa03… vs. 9ab0c1d2…",
            "    inputs of shift/*: kernel 71c8aa03… vs. 9ab0c1d2…",
        ]
    assert fake_machines.ran == [] and path.read_bytes() == before


@pytest.mark.parametrize("error", [KlocError("no"), FileNotFoundError("no")])
def test_a_dry_run_builds_nothing_to_check_versions_and_says_so(
    error: Exception,
    whole: tuple[bytes, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def prepare(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(compare, "prepare", prepare)
    terminal.stderr.cache_clear()
    path = without(tmp_path / "whole.json", "tpp")
    # The machine is known without anything that is built.
    with pytest.raises(KlocError, match=r"machine\.name: tiered vs\. cxl"):
        run(*COMPARE, "--machine=cxl", f"--resume={path}", "--dry-run")
    assert run(*COMPARE, f"--resume={path}", "--dry-run") == 0
    printed = capsys.readouterr()
    assert "4 runs" in printed.out
    assert "is not checked: the machine is not built yet" in " ".join(printed.err.split())


def test_a_dry_run_checks_nothing_against_entries_that_are_missing(
    whole: tuple[bytes, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def prepare(*arguments: object, **_: object) -> dict[str, Any]:
        cache.build("kernel", "0" * 20, lambda _: None)
        return fake_machines.parts(*arguments)

    monkeypatch.setattr(compare, "prepare", prepare)
    terminal.stderr.cache_clear()
    fake_machines.faults["kernel"] = "9ab0c1d2e3f40000"
    path = without(tmp_path / "whole.json", "tpp")
    assert run(*COMPARE, f"--resume={path}", "--dry-run") == 0
    assert "is not checked" in " ".join(capsys.readouterr().err.split())
    assert cache.entries("kernel") == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"schema": 2, "runs": [', "not JSON"),
        ("", "not JSON"),
        ("[]", "no schema number"),
        (json.dumps(made_up.object_document()), "not a result of kloc compare"),
        (json.dumps(made_up.document(made_up.run("tpp", 1.0))), "an older kloc measured this"),
        (
            json.dumps(made_up.document(made_up.run("kernel", 1.0, placement={"fast": ["file"]}))),
            "not a result of kloc compare",
        ),
    ],
    ids=["truncated", "empty", "foreign", "objects", "old", "what-if"],
)
def test_a_file_that_cannot_be_continued_is_refused_and_kept(
    content: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "part.json"
    path.write_text(content)
    with pytest.raises(KlocError, match=rf"part\.json.*{words}"):
        run(*COMPARE, f"--resume={path}")
    assert fake_machines.ran == [] and path.read_text() == content


def test_a_missing_file_is_an_error_that_says_how_to_start(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"part\.json: this file does not exist") as refused:
        run(*COMPARE, f"--resume={tmp_path}/part.json")
    assert f"--json {tmp_path}/part.json" in (refused.value.hint or "")
    assert list(tmp_path.glob("*.json")) == []


def test_a_report_does_not_replace_the_file(whole: tuple[bytes, str], tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    with pytest.raises(KlocError, match="would replace the result file"):
        run(*COMPARE, f"--resume={path}", f"--json={tmp_path}/j.json", f"--report={path}")
    assert path.read_bytes() == whole[0]


def test_a_file_that_will_be_replaced_is_named_first(
    whole: tuple[bytes, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "whole.json"
    assert run("compare", "redis", "--policies=tpp", f"--json={path}") == 0
    expected = f"{path} exists and will become {path}.old; --resume {path} would continue it"
    assert expected in " ".join(capsys.readouterr().err.split())


def test_a_disk_that_is_full_for_a_while_loses_no_result(
    whole: tuple[bytes, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_text, calls = files.write_text, iter(range(100))

    def fail_at_first(path: Path, text: str, keep: bool = False) -> None:
        if next(calls) < 3:
            raise KlocError(f"cannot write {path}: No space left on device")
        write_text(path, text)

    monkeypatch.setattr(files, "write_text", fail_at_first)
    assert run(*COMPARE, f"--json={tmp_path}/j.json") == 0
    assert (tmp_path / "j.json").read_bytes() == whole[0]
    assert "No space left on device; the measurement continues" in capsys.readouterr().err


def test_kill_9_leaves_a_whole_file_that_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    command = ("compare", "redis", "--policies=all-slow,tpp,oracle", "--seeds=20")
    fake = PROJECT / "tests/support/fake_machines.py"
    # Each process hangs after ten of 60 runs, if it is not killed before.
    program = [sys.executable, fake, "10", tmp_path / "cache"]
    search = os.pathsep.join(str(PROJECT / name) for name in ("src", "tests"))
    for delay in (0.0, 0.01, 0.05, 0.1, 0.2):
        option = "--resume" if path.exists() else "--json"
        before = len(json.loads(path.read_text())["runs"]) if path.exists() else 0
        process = subprocess.Popen(
            [*program, *command, option, path],
            env={**os.environ, "PYTHONPATH": search},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        began = path.stat().st_mtime_ns if path.exists() else 0
        while process.poll() is None and (not path.exists() or path.stat().st_mtime_ns == began):
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert len(json.loads(path.read_text())["runs"]) > before
    assert run(*command, f"--resume={path}") == 0
    assert run(*command, f"--json={tmp_path}/whole.json") == 0
    assert path.read_bytes() == (tmp_path / "whole.json").read_bytes()
