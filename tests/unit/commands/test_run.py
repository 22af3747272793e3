# SPDX-License-Identifier: GPL-2.0
"""`kloc run`: what is run, what is refused, and what becomes of the result."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import run as command
from kloc.machine.job import Job, Raw
from support import made_up
from support.command import run

RESULT = made_up.document(made_up.run("kloc", 50.0))


@pytest.fixture(autouse=True)
def consoles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """New consoles for the test's output, and a current directory without a workload's file."""
    monkeypatch.chdir(tmp_path)
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that would have been run; each prints "1"."""
    started: list[Job] = []

    def launch(job: Job, *_: Any) -> Raw:
        started.append(job)
        return Raw({"measured": "1\n"}, {}, None, "")

    (measured,) = RESULT["runs"]
    monkeypatch.setattr(command, "prepare_parts", lambda *_, **__: None)
    monkeypatch.setattr(command.launcher, "run", launch)
    monkeypatch.setattr(command.record, "from_raw", lambda *_, **__: measured)
    monkeypatch.setattr(command.document, "assemble", lambda *_: RESULT)
    return started


def test_dry_run_names_program_policy_seed_and_machine(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("run", "--fast", "2", "--dry-run", "--", "ls", "a b") == 0
    printed = capsys.readouterr()
    assert printed.out == "ls 'a b' under kloc, seed 1, machine tiered, fast x 2\n"
    assert "policy kloc" in printed.err
    run("run", "redis", "--policy", "tpp", "--seed", "7", "--dry-run")
    printed = capsys.readouterr()
    assert printed.out == "redis under tpp, seed 7, machine tiered\n"
    assert "policy" not in printed.err
    run("run", "redis", "--policy", "tpp", "--cold", "--dry-run")
    assert capsys.readouterr().out == "redis under tpp, seed 1, machine tiered, cold\n"


def test_a_dry_run_lists_the_run_that_the_oracle_follows_from(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("run", "redis", "--policy", "oracle", "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        "redis under all-slow, seed 1, machine tiered",
        "redis under oracle, seed 1, machine tiered, after all-slow",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--packages", "fio,../../etc"), r"'\.\./\.\./etc' is not a valid name"),
        (("--kernel", "/bin/ls"), "/bin/ls is not a bzImage"),
        (("--kernel", "bash"), "'bash' is not a kernel"),
        (("--setup", "/bin/ls"), "--setup /bin/ls: this is not a text file"),
        (("--setup", "/bin"), "--setup /bin: .*directory"),
        (("--copy", "/no/where"), "/no/where does not exist"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse(
    options: tuple[str, ...], words: str, jobs: list[Job]
) -> None:
    for dry in ((), ("--dry-run",)):
        with pytest.raises(KlocError, match=words):
            run("run", *options, *dry, "--", "true")
    assert not jobs


def test_a_policy_that_another_kernel_lacks_is_refused_before_anything_runs(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = SimpleNamespace(kernel=SimpleNamespace(release="6.12-cloud"))
    lacks = {"kloc": "the kernel has no /sys/kernel/mm/tiering/policy"}
    monkeypatch.setattr(command, "prepare_parts", lambda *_, **__: parts)
    monkeypatch.setattr(command.kernel_support, "unsupported", lambda *_: lacks)
    with pytest.raises(KlocError, match=r"policy kloc cannot run on kernel 6\.12-cloud"):
        run("run", "--kernel", "linux-image-amd64", "--policy", "kloc", "--", "true")
    assert not jobs


def test_job_is_what_the_options_say(jobs: list[Job], tmp_path: Path) -> None:
    (tmp_path / "load.sh").write_text("true\n")
    prog = tmp_path / "prog"
    prog.touch()
    options = ["--policy", "stock", "--seed", "3", "--packages", "fio,perl", "--setup", "load.sh"]
    assert run("run", *options, "--copy", "prog", "--", str(prog), "x y") == 0
    (job,) = jobs
    assert (job.name, job.seed, job.packages, job.copies) == ("prog", 3, ("fio", "perl"), (prog,))
    assert job.scripts == {"measured": f"{prog} 'x y'\n", "setup": "true\n"}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "no workload and no program"),
        (["--"], "no command after"),
        (["redis", "--", "ls"], "both a workload and a program"),
        (["redis", "rocksdb"], "more than one workload"),
        (["redis", "--packages", "fio", "--copy", "x"], "--packages, --copy: "),
        (["redis", "--with-kloc"], "--with-kloc: "),
        (["--quick", "--", "ls"], "--quick: "),
        (["./prog"], "'--'"),
        (["prog", "x"], "'--'"),
        (["redis", "--fetch", "/data/x"], "--fetch: "),
        (["--fetch", "/data/x", "--seeds", "2", "--", "ls"], "several seeds"),
        (["--", "./prog"], "the machine has no ./prog"),
    ],
    ids=" ".join,
)
def test_wrong_combinations_are_refused_before_anything_is_built(
    argv: list[str], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "prog").touch()
    for name in ("prepare", "prepare_parts"):
        monkeypatch.setattr(command, name, lambda *_, **__: pytest.fail("prepared"))
    with pytest.raises(UsageError, match=words):
        run("run", *argv)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--copy", "/no/such"], "/no/such does not exist"),
        (["--setup", "/no/such"], "/no/such does not exist"),
        (["--setup", "/bin/ls"], "/bin/ls: this is not a text file"),
        (["--policy", "oracle"], "another policy"),
        (["--fetch", "/data/x:/no/such/out"], "/no/such does not exist"),
        (["--json", "/no/such/out"], "--json .*/no/such does not exist"),
    ],
    ids=" ".join,
)
def test_impossible_options_are_refused_before_anything_is_built(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "prepare_parts", lambda *_, **__: pytest.fail("prepared"))
    with pytest.raises(KlocError, match=words):
        run("run", *options, "--", "ls")


def test_file_with_the_name_of_a_workload_is_no_obstacle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "redis").touch()
    assert run("run", "redis", "--dry-run") == 0
    assert capsys.readouterr().out.startswith("redis under")


def test_a_program_is_always_measured_cold(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def from_raw(*_: object, cold: bool) -> Any:
        asked.append(cold)
        return RESULT["runs"][0]

    monkeypatch.setattr(command.record, "from_raw", from_raw)
    for options in ([], ["--cold"]):
        assert run("run", *options, "--", "seq", "1") == 0
    assert asked == [True, True]
    assert "warm" not in jobs[0].scripts


def test_output_of_the_program_is_printed_before_the_result(
    jobs: list[Job], capsys: pytest.CaptureFixture[str]
) -> None:
    run("run", "--", "seq", "1")
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "1"
    assert rest


def test_json_is_alone_on_stdout(jobs: list[Job], capsys: pytest.CaptureFixture[str]) -> None:
    run("run", "--json", "-", "--", "seq", "1")
    printed = capsys.readouterr()
    assert json.loads(printed.out) == RESULT
    assert "1\n" in printed.err


def test_result_is_written_before_the_output_is_shown(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    with pytest.raises(BrokenPipeError):
        run("run", f"--json={tmp_path}/j", "--", "seq", "1000000")
    assert json.loads((tmp_path / "j").read_text()) == RESULT


def test_a_program_is_run_with_every_seed(
    jobs: list[Job], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command.document, "assemble", lambda _, __, runs: made_up.document(*runs))
    monkeypatch.setattr(
        command.record, "from_raw", lambda job, *_, **__: made_up.run("kloc", 50, seed=job.seed)
    )
    assert run("run", "--seeds", "4-5", "--", "seq", "1") == 0
    assert [job.seed for job in jobs] == [4, 5]
    printed = capsys.readouterr().out
    assert printed.startswith("1\n1\n")
    assert "seed 4" in printed and "seed 5" in printed
    run("run", "redis", "--seeds", "2", "--policy", "tpp", "--dry-run")
    assert capsys.readouterr().out.count("redis under tpp, seed ") == 2


@pytest.mark.parametrize(("measured", "status"), [(77, 77), (None, 1)])
def test_kloc_ends_with_the_status_of_a_program_that_fails(
    measured: int | None,
    status: int,
    jobs: list[Job],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(job: Job, *_: Any) -> Raw:
        if job.seed == 2:
            failed = command.launcher.RunFailed("false: it failed")
            failed.measured = measured
            raise failed
        return Raw({"measured": "1\n"}, {}, None, "")

    monkeypatch.setattr(command.launcher, "run", fail)
    with pytest.raises(command.launcher.RunFailed) as failed:
        run("run", "--seeds", "2", "--", "false")
    assert failed.value.status == status
    # The runs before are not lost.
    assert "50" in capsys.readouterr().out


def test_files_are_fetched_after_the_result_is_shown(
    jobs: list[Job],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def launch(job: Job, *_: Any) -> Raw:
        assert "fetch /data x" in job.scripts["check"]
        return Raw({"measured": "", "check": "error: no such file\n"}, {}, None, "")

    monkeypatch.setattr(command.launcher, "run", launch)
    with pytest.raises(KlocError, match="--fetch /data/x: no such file"):
        run("run", "--fetch", "/data/x", "--", "true")
    assert "kloc" in capsys.readouterr().out
