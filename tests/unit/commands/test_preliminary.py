# SPDX-License-Identifier: GPL-2.0
"""The first comparison shows figures of Debian's kernel while kloc's own is built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.build import foreign_kernel
from kloc.commands import compare, measuring, preliminary
from kloc.measure.runner import Interrupted
from kloc.measure.task import Task
from kloc.results import document
from support import made_up
from support.command import run


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> list[list[str]]:
    """The titles of what is measured on Debian's kernel, before the comparison itself."""
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stdout.cache_clear()
    terminal.stderr.cache_clear()
    found: list[list[str]] = []

    def prepare(
        workloads: Any, kernel: str | None, meanwhile: Any, policies: Any = ()
    ) -> dict[str, Any]:
        meanwhile()
        return {}

    def prepare_debians(workloads: Any, kernel: str) -> dict[str, Any]:
        assert kernel == foreign_kernel.TESTED
        parts = SimpleNamespace(kernel=SimpleNamespace(release="6.12-cloud"))
        return {one.name: parts for one in workloads}

    def measure(todo: Sequence[Task], policies: Any, parts: Any) -> list[Any]:
        found.append([task.title() for task in todo])
        assert [one.name for one in policies] == [task.policy.name for task in todo]
        return [made_up.run(task.policy.name, 40.0) for task in todo]

    def assemble(parts: Any, profile: Any, runs: Any) -> Any:
        return made_up.document(*(runs or [made_up.run("kloc", 50.0)]))

    monkeypatch.setattr(compare, "prepare", prepare)
    monkeypatch.setattr(compare, "_unsupported", lambda *_: {})
    monkeypatch.setattr(compare, "KEPT", {})
    monkeypatch.setattr(preliminary, "prepare", prepare_debians)
    monkeypatch.setattr(preliminary, "measure", measure)
    monkeypatch.setattr(document, "assemble", assemble)
    monkeypatch.setattr(measuring, "measure", lambda *_: [made_up.run("kloc", 50.0)])
    return found


def test_policies_of_linux_are_shown_in_a_table_of_their_own(
    measured: list[list[str]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    assert run("compare", "redis", "shift", "--seeds", "2", "--json", str(path)) == 0
    assert measured == [["redis under stock, seed 1", "redis under tpp, seed 1"]]
    printed = capsys.readouterr()
    assert "first figures, of Debian's kernel 6.12-cloud" in printed.err
    assert "stock against tpp, seed by seed" in printed.err
    assert "stock" not in printed.out and "kloc" in printed.out
    assert [one["policy"] for one in document.read(path)["runs"]] == ["kloc"]


def test_a_workload_whose_disk_needs_our_kernel_is_left_out(measured: list[list[str]]) -> None:
    assert run("compare", "rocksdb", "redis", "--policies", "tpp,kloc") == 0
    assert measured == [["redis under tpp, seed 1"]]
    assert run("compare", "rocksdb") == 0
    assert run("compare", "redis", "--policies", "kloc") == 0
    assert len(measured) == 1


def test_only_the_first_kernel_takes_long_enough(
    measured: list[list[str]], empty_cache: Path
) -> None:
    (empty_cache / "kernel" / ("0" * 20)).mkdir(parents=True)
    assert run("compare", "redis") == 0
    assert measured == []


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), True),
        (("--json", "-"), False),
        (("--kernel", "linux-image-amd64"), False),
        (("--resume", "result.json"), False),
    ],
)
def test_comparisons_that_need_no_first_figures_have_none(
    options: tuple[str, ...],
    shown: bool,
    measured: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        compare.stored_results, "chosen", lambda args, _: {"runs": []} if args.resume else None
    )

    def prepare(workloads: Any, kernel: str | None, meanwhile: Any, policies: Any = ()) -> Any:
        meanwhile()
        raise KlocError("the parts are there")

    monkeypatch.setattr(compare, "prepare", prepare)
    with pytest.raises(KlocError, match="the parts are there"):
        run("compare", "redis", *options)
    assert bool(measured) == shown


def test_a_failure_is_told_and_the_comparison_goes_on(
    measured: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for error in (KlocError("Debian is away"), OSError(28, "No space left")):

        def fail(*_: Any, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(preliminary, "prepare", fail)
        assert run("compare", "redis") == 0
        printed = capsys.readouterr()
        assert "there are no first figures: " in printed.err
        assert "kloc" in printed.out


def test_an_interrupt_ends_the_comparison(
    measured: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise Interrupted([])

    monkeypatch.setattr(preliminary, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("compare", "redis")
