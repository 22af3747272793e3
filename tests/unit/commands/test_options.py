# SPDX-License-Identifier: GPL-2.0
"""The options of the commands that measure: what is understood, and what is refused at once."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.commands import compare, machines, options, policies, run, shell
from kloc.machine.job import Raw
from kloc.measure import policy, workload
from kloc.measure.runner import Incomplete, Interrupted

RESULT: dict[str, Any] = {
    "schema": 1,
    "kernel": {"release": "6.12", "series": "a"},
    "versions": {"qemu": "10"},
    "machine": {"name": "tiered"},
    "runs": [
        {
            "workload": "w",
            "policy": "tpp",
            "seed": 1,
            "cores": 1,
            "machine": {"name": "tiered", "fast_bytes": 1 << 27, "slow_bytes": 1 << 30},
            "throughput": 5.0,
            "computed": False,
            "notes": [],
        }
    ],
}


def parsed(command: Any, *argv: str, program: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(argv, argparse.Namespace(program=program, command=command))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Any]]:
    """What a report was asked for of."""
    reports: list[tuple[Path, Any]] = []
    fake: Any = ModuleType("kloc.results.report")
    fake.write = lambda path, document: reports.append((path, document))
    monkeypatch.setitem(sys.modules, "kloc.results.report", fake)
    return reports


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(RESULT))
    return path


def test_options_mean_the_same_everywhere() -> None:
    common = ["--policy", "stock", "--machine", "cxl", "--packages", "a, b,", "--copy", "/bin/sh"]
    for command in (run, shell):
        args = parsed(command, *common)
        assert (args.policy, args.machine, args.packages) == ("stock", "cxl", ("a", "b"))
        assert options.copies(args) == (Path("/bin/sh"),)
    assert parsed(policies, "--machine", "cxl").machine == "cxl"


@pytest.mark.parametrize(
    ("argv", "size"),
    [((), workload.FULL), (("--quick",), workload.QUICK), (("--long",), workload.LONG)],
)
def test_how_much_is_run(argv: tuple[str, ...], size: workload.Size) -> None:
    assert options.size(parsed(run, "redis", *argv)) == size
    assert options.size(parsed(compare, "redis", *argv)) == size


@pytest.mark.parametrize("argv", [("--quick", "--long"), ("--seed", "-1"), ("--seed", "x")])
def test_usage_errors(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(run, "redis", *argv)
    assert argv[0] in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    args = parsed(compare, "redis", "--policies", "tpp,stock", "--dry-run")
    assert compare.run(args) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "redis under tpp, seed 1, machine tiered",
        "redis under stock, seed 1, machine tiered",
    ]


def test_every_combination_is_a_variant_with_bounds_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    argv = ["--fast", "1/2,1,0.5", "--slow-bandwidth", "1/8,1/4", "--policies", "oracle,tpp"]
    compare.run(parsed(compare, "redis", *argv, "--dry-run"))
    lines = capsys.readouterr().out.splitlines()
    for varied in ("", ", fast x 1/2", ", slow bandwidth 1/4", ", fast x 1/2, slow bandwidth 1/4"):
        for name in ("tpp", "all-slow"):
            assert f"redis under {name}, seed 1{varied}, machine tiered{varied}" in lines
    assert lines[-1].startswith("8 runs")


def test_one_run_is_on_one_machine(capsys: pytest.CaptureFixture[str]) -> None:
    args = parsed(run, "--fast", "2", "--dry-run", program=["ls"])
    run.run(args)
    assert capsys.readouterr().out == "ls under tpp, seed 1, machine tiered, fast x 2\n"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--fast", "a"),
        ("--fast", "1/0"),
        ("--fast", "-1"),
        ("--fast", "0"),
        ("--fast", "1,2"),
        ("--slow-bandwidth", "2"),
    ],
)
def test_factors_that_are_none(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(run, "redis", f"{option}={value}")
    assert f"argument {option}: '{value}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("rediss",), "unknown workload 'rediss', did you mean 'redis'"),
        (("redis", "--policies", "tp"), "unknown policy 'tp', did you mean 'tpp'"),
        (("redis", "--machine", "tierd"), "unknown machine 'tierd', did you mean 'tiered'"),
        (("redis", "--seeds", "0"), "there must be at least one"),
        (("a.json", "redis"), "not both at once"),
        (("a.json", "--quick", "--seeds", "3"), "--seeds, --quick: nothing is run"),
        (("a.json", "--machine", "cxl"), "--machine: nothing is run"),
        (("a.json", "--slow-bandwidth", "1/4"), "--slow-bandwidth: nothing is run"),
        (("redis", "--fast", "1/4"), "needs 96 MiB"),
    ],
)
def test_what_cannot_be_compared_is_refused(argv: tuple[str, ...], reason: str) -> None:
    with pytest.raises(KlocError, match=reason):
        compare.run(parsed(compare, *argv))


@pytest.mark.parametrize(
    ("argv", "program", "reason"),
    [
        ((), None, "nothing to run"),
        (("redis",), ["ls"], "not both"),
        (("redis", "--packages", "fio", "--copy", "x"), None, "--packages, --copy: this goes"),
        (("--quick",), ["ls"], "--quick: a program of your own has one size"),
        (("--copy", "/no/such"), ["ls"], "there is no /no/such"),
        (("--setup", "/no/such"), ["ls"], "there is no /no/such"),
        (("--policy", "oracle"), ["ls"], "computed"),
    ],
)
def test_what_cannot_be_run_is_refused(
    argv: tuple[str, ...], program: list[str] | None, reason: str
) -> None:
    with pytest.raises(KlocError, match=reason):
        run.run(parsed(run, *argv, program=program))


@pytest.mark.parametrize("option", ["--json", "--report"])
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing/out", "there is no folder .*/missing"),
        (".", "that is a folder"),
        ("closed/out", "closed cannot be written to"),
        ("pipe", "no regular file"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_anything_runs(
    option: str, target: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "closed").mkdir()
    # Root may write anywhere.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: "closed" not in str(path) and allowed(path, mode)
    )
    for command in (run, compare):
        with pytest.raises(KlocError, match=f"{option} .*{reason}"):
            command.run(parsed(command, "redis", option, str(tmp_path / target)))


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder in which nothing can be seen; as root there is no such one."""
    folder = tmp_path / "closed"
    folder.mkdir()
    real, allowed = Path.stat, os.access

    def stat(path: Path, **how: Any) -> os.stat_result:
        if folder in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and allowed(path, mode))
    return folder


@pytest.mark.parametrize(
    ("argv", "program", "reason"),
    [
        (("redis", "--json", "{}/out"), None, "--json .*closed cannot be written to"),
        (("redis", "--json", "{}/in/out"), None, "--json .*: Permission denied"),
        (("--copy", "{}/file"), ["ls"], "closed/file cannot be read: Permission denied"),
    ],
)
def test_what_may_not_be_looked_at_is_refused(
    argv: tuple[str, ...], program: list[str] | None, reason: str, closed: Path
) -> None:
    given = [word.format(closed) for word in argv]
    with pytest.raises(KlocError, match=reason) as refused:
        run.run(parsed(run, *given, program=program))
    assert refused.value.hint


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    same = ["--json", f"{tmp_path}/out", "--report", f"{tmp_path}/./out"]
    with pytest.raises(KlocError, match="name the same file"):
        run.run(parsed(run, "redis", *same))


def test_the_report_is_of_the_very_document(written: list[Any], tmp_path: Path) -> None:
    args = parsed(run, "redis", "--json", f"{tmp_path}/j", "--report", f"{tmp_path}/r")
    document: Mapping[str, Any] = {"runs": [1.5]}
    options.write_outputs(args, document)
    assert written == [(tmp_path / "r", document)]
    assert written[0][1] is document
    assert json.loads((tmp_path / "j").read_text()) == document


def test_a_result_file_is_shown_and_reported(
    written: list[Any], result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [str(result_file), "--report", f"{tmp_path}/r.html"]
    assert compare.run(parsed(compare, *argv)) == 0
    assert written == [(tmp_path / "r.html", RESULT)]
    shown = capsys.readouterr().out
    assert "tpp" in shown
    assert "same machine" not in shown
    assert compare.run(parsed(compare, str(result_file), str(result_file))) == 0
    assert "same machine, same versions" in capsys.readouterr().out


def other_file(path: Path, **changes: Any) -> str:
    """A result file that differs in its run."""
    (run,) = RESULT["runs"]
    path.write_text(json.dumps({**RESULT, "runs": [{**run, **changes}]}))
    return str(path)


def test_files_of_one_machine_and_versions_are_one_table(
    written: list[Any], result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bounds = [
        other_file(tmp_path / f"{name}.json", policy=name, throughput=rate)
        for name, rate in (("all-slow", 4.0), ("all-fast", 10.0))
    ]
    argv = [bounds[0], str(result_file), bounds[1], "--report", f"{tmp_path}/r.html"]
    assert compare.run(parsed(compare, *argv)) == 0
    shown = capsys.readouterr().out
    (row,) = [line for line in shown.splitlines() if line.strip().startswith("tpp")]
    assert row.split() == ["tpp", "5", "1.25", "50", "%"]
    assert [run["policy"] for run in written[0][1]["runs"]] == ["all-slow", "tpp", "all-fast"]


def test_files_that_differ_are_shown_apart_with_what_they_differ_in(
    result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**RESULT, "versions": {"qemu": "11"}}))
    same = tmp_path / "same.json"
    same.write_text(json.dumps(RESULT))
    assert compare.run(parsed(compare, str(result_file), str(other), str(same))) == 0
    shown = capsys.readouterr().out
    assert f"{result_file} and {other} differ in:\n  versions.qemu: 10 against 11\n" in shown
    assert f"{result_file} and {same}: same machine, same versions\n" in shown


def test_what_objects_found_is_reported_and_nothing_else(
    written: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "objects.json"
    found = {"schema": 1, "workload": "w", "inputs": {"small": {}}}
    path.write_text(json.dumps(found))
    with pytest.raises(KlocError, match="is of kloc objects"):
        compare.run(parsed(compare, str(path)))
    assert compare.run(parsed(compare, str(path), f"--report={tmp_path}/r.html")) == 0
    assert written == [(tmp_path / "r.html", found)]


def test_a_report_does_not_replace_what_it_is_of(result_file: Path) -> None:
    with pytest.raises(KlocError, match="would replace the result file"):
        compare.run(parsed(compare, str(result_file), f"--report={result_file}"))
    assert json.loads(result_file.read_text()) == RESULT


def test_figures_are_shown_even_if_no_report_can_be_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KlocError("the disk is full")

    monkeypatch.setattr(compare, "prepare", lambda _: {})
    monkeypatch.setattr(compare, "measure", lambda *_: RESULT["runs"])
    monkeypatch.setattr(compare.result, "document", lambda *_: RESULT)
    monkeypatch.setitem(sys.modules, "kloc.results.report", SimpleNamespace(write=fail))
    argv = ["redis", "--policies", "tpp", "--report", f"{tmp_path}/r"]
    with pytest.raises(KlocError, match="the disk is full"):
        compare.run(parsed(compare, *argv))
    assert "tpp" in capsys.readouterr().out


@pytest.mark.parametrize("end", [Incomplete, Interrupted])
def test_what_was_done_is_shown_if_the_rest_was_not(
    end: type[Incomplete] | type[Interrupted],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object) -> None:
        if end is Interrupted:
            raise Interrupted(RESULT["runs"])
        raise Incomplete({"w under stock": KlocError("it crashed")}, RESULT["runs"])

    monkeypatch.setattr(compare, "prepare", lambda _: {})
    monkeypatch.setattr(compare, "measure", stop)
    monkeypatch.setattr(compare.result, "document", lambda *_: RESULT)
    with pytest.raises(end):
        compare.run(parsed(compare, "redis", "--policies=tpp", f"--json={tmp_path}/j"))
    assert "tpp" in capsys.readouterr().out
    assert json.loads((tmp_path / "j").read_text()) == RESULT


def test_a_program_s_result_is_written_before_its_output_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    (measured,) = RESULT["runs"]
    monkeypatch.setattr(run.machine, "prepare", lambda _: None)
    monkeypatch.setattr(run.machine, "run", lambda *_: Raw({"measured": "1\n"}, {}, None, ""))
    monkeypatch.setattr(run.result, "from_raw", lambda *_: measured)
    monkeypatch.setattr(run.result, "document", lambda *_: RESULT)
    monkeypatch.setattr("builtins.print", closed)
    with pytest.raises(BrokenPipeError):
        run.run(parsed(run, f"--json={tmp_path}/j", program=["seq", "1000000"]))
    assert json.loads((tmp_path / "j").read_text()) == RESULT


def test_names_are_completed_where_they_are_asked_for() -> None:
    action = argparse.Action([], "x")
    options.completes(action, policy.names)
    complete: Any = action.completer  # type: ignore[attr-defined]
    assert "tpp" in complete("")
    assert "stock,tpp" in complete("stock,t")


@pytest.mark.parametrize(("command", "name"), [(machines, "cxl"), (policies, "tpp")])
def test_what_there_is_is_listed_on_a_small_host(
    command: Any, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    assert command.run(parsed(command, "--json=-")) == 0
    assert name in [row["name"] for row in json.loads(capsys.readouterr().out)]


def test_a_listing_is_written_where_that_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machines.run(parsed(machines, "cxl", f"--json={tmp_path}/m")) == 0
    (shown,) = json.loads((tmp_path / "m").read_text())
    assert shown["name"] == "cxl"
    machines.run(parsed(machines, "cxl", "--json=-"))
    assert json.loads(capsys.readouterr().out) == [shown]
    with pytest.raises(KlocError, match="there is no folder"):
        machines.run(parsed(machines, f"--json={tmp_path}/no/m"))
    with pytest.raises(KlocError, match="did you mean 'cxl'"):
        machines.run(parsed(machines, "cxk"))
