# SPDX-License-Identifier: GPL-2.0
"""The programs that workloads bring along: they build, work, and see what was not done."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import programs
from kloc.build.root import Root
from kloc.measure.workload import SOURCES


def run(name: str, *arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs.build(SOURCES / f"{name}.c"), *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return what was counted of each operation, by all processes."""
    assert done.returncode == 0, done.stderr
    total: dict[str, int] = {}
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        total[name] = total.get(name, 0) + int(numbers[-1])
    return total


@pytest.fixture(params=["smallfiles", "mail"])
def worked(request: pytest.FixtureRequest, tools: Root, tmp_path: Path) -> str:
    """A program that has loaded and run in tmp_path."""
    name = str(request.param)
    assert counts(run(name, "load", 4, 400, 20, 1, folder=tmp_path))["time"] == 1600
    operations = counts(run(name, "run", 4, 400, 20, 1, folder=tmp_path))
    assert operations.pop("time") == sum(operations.values())
    assert all(operations.values())
    return name


def test_what_was_done_is_found(worked: str, tmp_path: Path) -> None:
    assert counts(run(worked, "check", 4, 400, 20, 1, folder=tmp_path))["read"] == 1600


def test_another_seed_leaves_other_files(worked: str, tmp_path: Path) -> None:
    assert run(worked, "check", 4, 400, 20, 2, folder=tmp_path).returncode == 1


def test_a_file_with_other_contents_is_seen(worked: str, tmp_path: Path) -> None:
    kept = max(tmp_path.glob("*01/*"))
    kept.write_bytes(bytes(kept.stat().st_size))
    done = run(worked, "check", 4, 400, 20, 1, folder=tmp_path)
    assert done.returncode == 1
    assert f"{kept.name}: wrong contents" in done.stderr


def test_a_lost_file_is_seen(worked: str, tmp_path: Path) -> None:
    max(tmp_path.glob("*01/*")).unlink()
    assert run(worked, "check", 4, 400, 20, 1, folder=tmp_path).returncode == 1


def test_rows_are_in_libsvm_s_format(tools: Root, tmp_path: Path) -> None:
    rows = run("sparse", 1000, 5000, 40, folder=tmp_path).stdout.splitlines()
    assert len(rows) == 1000
    assert {row.split()[0] for row in rows} == {"+1", "-1"}
    for row in rows:
        features = [int(pair.removesuffix(":1")) for pair in row.split()[1:]]
        assert features == sorted(set(features))
        assert features[0] >= 1 and features[-1] <= 5000
        assert 20 <= len(features) <= 40


def test_a_program_that_does_not_compile_is_told(tools: Root, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("int main(void) { return what; }\n")
    with pytest.raises(KlocError, match=r"what.* undeclared"):
        programs.build(tmp_path / "broken.c")
