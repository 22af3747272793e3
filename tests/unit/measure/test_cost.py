# SPDX-License-Identifier: GPL-2.0
"""kloc bench cost: what is made of the figures, how they are shown, what is refused."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from kloc import cli
from kloc.base.errors import KlocError
from kloc.build import kernel, root
from kloc.commands import bench
from kloc.measure.cost import kernels, parser, runner

PRINTED = """\
group check
rounds 2 900
call 0 nothing: 6:2
call 1 known: 408:2
group files
rounds 4 5000
call 2 open: 506:3 3000:1
call 4 write: 206:1 306:2 406:1
group processes
rounds 2 20000
call 10 fork, exit, wait: 9006:1 9106:1
done
"""
TOUCHED = "0 0\n1 100\n0 0\n1 100\n2 20\n4 9\n2 20\n4 9\n2 20\n4 8\n2 90\n4 9\n10 400\n10 402\n"


def parsed(printed: str = PRINTED, touched: str = TOUCHED) -> tuple[parser.Group, ...]:
    return parser.parse(printed.splitlines(), touched)[0]


def measured(name: str, printed: str = PRINTED, touched: str = TOUCHED) -> runner.Measured:
    (column,) = (each for each in kernels.COLUMNS if each.name == name)
    built = kernel.Kernel(Path("bzImage"), Path("vmlinux"), Path("config"), "6.12", name)
    return runner.Measured(column, built, *parser.parse(printed.splitlines(), touched))


def test_a_call_is_its_median_without_what_measuring_takes() -> None:
    files, processes = parsed()
    assert files.calls == (parser.Call("open", 500, 20), parser.Call("write", 300, 9))
    assert processes.calls[0].name == "fork, exit, wait"


def test_a_group_is_the_mean_of_all_that_was_done() -> None:
    files, _ = parsed()
    assert (files.name, files.rounds, files.instructions) == ("files", 4, 1250)
    assert files.lines == (3 * 20 + 90 + 3 * 9 + 8) / 4


def test_the_middle_of_several_layouts_is_taken_figure_by_figure() -> None:
    def run(group: float, opened: int, lines: int) -> tuple[parser.Group, ...]:
        return (parser.Group("files", 4, group, lines, (parser.Call("open", opened, lines),)),)

    (files,) = runner.middle([run(10, 7, 3), run(30, 5, 1), run(20, 6, 9)])
    assert files == parser.Group("files", 4, 20, 3, (parser.Call("open", 6, 3),))


def test_what_contexts_take_is_told_where_there_are_some() -> None:
    plain = measured("unpatched")
    on = measured("on", PRINTED.replace("done", "contexts 200 20800 800 4000 4000000\ndone"))
    assert (plain.memory, on.memory) == (None, parser.Memory(200, 20800, 800, 4000, 4000000))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("done\n", "failed open: No such file\n", "failed open: No such file"),
        ("done\n", "", "ended before all calls were made"),
        ("open: 506:3", "open: 506:2", "open: 4 calls, instructions of 3, cache lines of 4"),
        ("rounds 4", "rounds 5", "open: 5 calls, instructions of 4"),
        ("known: 408", "known: 409", "402 instructions and 100 cache lines was counted as 403"),
    ],
)
def test_output_that_cannot_be_trusted_is_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(KlocError, match=reason):
        parsed(PRINTED.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("10 402\n", "", "fork, exit, wait: 2 calls, instructions of 2, cache lines of 1"),
        ("1 100\n", "1 99\n", "counted as 402 and 99"),
        ("0 0\n", "0 1\n", "counted as 402 and 100"),
    ],
)
def test_cache_lines_that_cannot_be_trusted_are_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(KlocError, match=reason):
        parsed(touched=TOUCHED.replace(old, new))


def arguments(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(argv)


def test_the_unpatched_kernel_is_always_there_and_first() -> None:
    assert [each.name for each in kernels.choose(["machine"])] == ["unpatched", "machine"]
    assert kernels.choose([]) == list(kernels.COLUMNS)
    with pytest.raises(KlocError, match="unknown kernel 'mashine', did you mean 'machine'"):
        kernels.choose(["mashine"])


def test_every_column_can_be_built() -> None:
    assert {each.variant for each in kernels.COLUMNS} <= kernel.VARIANTS.keys()


def test_a_dry_run_says_which_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(arguments("cost", "--kernels", "base", "--dry-run")) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "unpatched",
        "base",
    ]


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(columns: list[kernels.Column]) -> list[runner.Measured]:
        return [measured(column.name) for column in columns]

    monkeypatch.setattr(runner, "measure", measure)
    versions = argparse.Namespace(versions=lambda: {"qemu": "1"})
    monkeypatch.setattr(root, "tool_root", lambda: versions)


def test_all_of_it_is_written(
    nothing_runs: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.run(arguments("cost", "--json", str(tmp_path / "cost.json"))) == 0
    document: dict[str, Any] = json.loads((tmp_path / "cost.json").read_text())
    assert [each["name"] for each in document["kernels"]] == [each.name for each in kernels.COLUMNS]
    files = document["kernels"][0]["groups"][0]
    assert files["calls"]["open"] == {"instructions": 500, "lines": 20}
    assert document["versions"] == {"qemu": "1"}
    assert "unpatched" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_told_first(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="does not exist"):
        bench.run(arguments("cost", "--json", str(tmp_path / "no" / "cost.json")))


def test_bench_measures_cost_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["bench", "costs"])
    assert "'costs'" in capsys.readouterr().err
