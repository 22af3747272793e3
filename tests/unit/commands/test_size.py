# SPDX-License-Identifier: GPL-2.0
"""`kloc size` on made-up machines whose throughput follows from their fast memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.measure import record
from kloc.measure.runner import Interrupted
from support import fake_machines, golden
from support.command import parse, run

MIB = 1 << 20

SIZE = ("size", "gups", "--slowdown", "0.5,3,10", "--quick")


@pytest.fixture(autouse=True)
def machines(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> None:
    """Machines on which tpp needs more fast memory than kloc, and never comes within 0.5 %."""
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stdout.cache_clear()
    fake_machines.install(monkeypatch.setattr)
    made = record.from_raw

    def from_raw(job: Any, policy: Any, *rest: Any) -> record.Run:
        mib = job.profile.fast.capacity / MIB
        least = {"all-fast": 0, "tpp": 1, "kloc": 0}[policy.name]
        slope = {"all-fast": 0.0, "tpp": 1 / 20, "kloc": 1 / 40}[policy.name]
        slowdown = least + max(0.0, 430 - mib) * slope + (policy.name == "tpp") * (job.seed - 1) / 2
        pages = {"fast": {"anon": 40_000, "free": 99}, "slow": {"file": 62_400, "free": 9}}
        return {
            **made(job, policy, *rest),
            "throughput": 2000 * (1 - slowdown / 100) * job.seed,
            "pages": pages,
        }

    monkeypatch.setattr(record, "from_raw", from_raw)


def test_sizes_and_savings_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*SIZE) == 0
    golden.check("size", capsys.readouterr().out)


def test_the_file_has_the_runs_and_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "size.json"
    assert run(*SIZE, f"--json={path}") == 0
    content = json.loads(path.read_text())
    found = content["sizing"]
    assert found["in_use_bytes"] == 400 * MIB and found["seed"] == 1
    assert len(content["runs"]) == len(fake_machines.ran) == len(set(fake_machines.ran))
    (answer,) = [one for one in found["answers"] if (one["policy"], one["bound"]) == ("kloc", 10)]
    assert answer["state"] == "found" and answer["smallest"]
    # 96 of 400 MiB are fast; the others cost a third, a quarter or a fifth.
    assert answer["savings"] == pytest.approx(
        {"1/3": 0.76 * 2 / 3, "1/4": 0.76 * 3 / 4, "1/5": 0.76 * 4 / 5}
    )
    none = [one for one in found["answers"] if one["state"] == "no size"]
    assert [(one["policy"], one["bound"], one["savings"]) for one in none] == [("tpp", 0.5, None)]


def test_single_runs_can_be_shown_by_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "size.json"
    run(*SIZE, f"--json={path}")
    capsys.readouterr()
    assert run("compare", str(path)) == 0
    assert "fast x 1/2" in capsys.readouterr().out


def test_json_is_alone_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    run(*SIZE, "--json", "-")
    assert json.loads(capsys.readouterr().out)["sizing"]["answers"]


@pytest.mark.parametrize("stop", [0, 1, 3, 9])
def test_a_stopped_search_goes_on_and_ends_the_same(
    stop: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    run(*SIZE, f"--json={whole}")
    printed, total = capsys.readouterr().out, len(fake_machines.ran)
    fake_machines.ran.clear()
    fake_machines.faults["stop"] = stop
    with pytest.raises(Interrupted):
        run(*SIZE, f"--json={part}")
    done = len(fake_machines.ran)
    assert done == stop
    if not done:
        assert not part.exists()
        return
    assert "the search did not end" in capsys.readouterr().out or done == 1
    fake_machines.faults.clear()
    assert run(*SIZE, f"--resume={part}") == 0
    assert len(fake_machines.ran) == total
    assert part.read_text() == whole.read_text()
    assert capsys.readouterr().out == printed


def test_another_bound_needs_only_its_own_sizes(tmp_path: Path) -> None:
    path = tmp_path / "size.json"
    run(*SIZE, f"--json={path}")
    fake_machines.ran.clear()
    run(*SIZE, f"--resume={path}")
    assert not fake_machines.ran
    run("size", "gups", "--quick", "--slowdown", "5", f"--resume={path}")
    assert 0 < len(fake_machines.ran) < 7 * 2


def test_results_of_another_kernel_are_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "size.json"
    run(*SIZE, f"--json={path}")
    before = path.read_text()
    fake_machines.faults["kernel"] = "9ab0c1d211223344"
    with pytest.raises(KlocError, match="differ"):
        run(*SIZE, f"--resume={path}")
    with pytest.raises(KlocError, match="sizes: quick"):
        run("size", "gups", f"--resume={path}")
    assert path.read_text() == before


def test_a_dry_run_lists_the_first_runs_and_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*SIZE, "--dry-run") == 0
    first, second, then, most = capsys.readouterr().out.splitlines()
    assert first == "gups under all-fast, seed 1, machine tiered"
    assert second == "gups under all-fast, seed 2, machine tiered"
    assert then.startswith("then tpp, kloc with fast memory from 96 MiB to 1.5 times")
    assert most.startswith("30 runs at most")
    assert not fake_machines.ran


@pytest.mark.parametrize(
    ("argv", "error", "words"),
    [
        (("size", "gups", "--policies", "oracle"), UsageError, "policy oracle does not depend"),
        (("size", "gubs"), KlocError, "did you mean 'gups'"),
        (("size", "gups", "--machine", "nosuch"), KlocError, "unknown machine"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    argv: tuple[str, ...], error: type[KlocError], words: str
) -> None:
    for dry in ((), ("--dry-run",)):
        with pytest.raises(error, match=words):
            run(*argv, *dry)
    assert not fake_machines.ran


@pytest.mark.parametrize("text", ["0", "100", "3,x", "-1", ""])
def test_wrong_slowdowns_are_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("size", "gups", f"--slowdown={text}")
    assert "--slowdown" in capsys.readouterr().err


def test_slowdowns_are_percentages() -> None:
    assert parse("size", "gups", "--slowdown", "3, 6%,0.5").slowdown == (3.0, 6.0, 0.5)
