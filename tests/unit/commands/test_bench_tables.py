# SPDX-License-Identifier: GPL-2.0
"""`kloc bench tables`: measures what is missing, and writes the tables into their documents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kloc.base import checkout, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import bench_tables
from kloc.measure import workload
from kloc.measure.runner import Interrupted
from kloc.results import marked
from support import fake_machines
from support.command import run
from support.repository import commit, repository

LIST = """\
[table.top]
document = "README.md"
form = "terminal"
workloads = ["redis"]
policies = ["all-slow", "tpp", "kloc", "oracle"]

[table.seeds]
document = "docs/results.md"
form = "ratios"
workloads = ["redis", "shift"]
policies = ["tpp", "kloc"]
seeds = 2

[table.spread]
document = "docs/results.md"
form = "spread"
workloads = ["shift"]
policies = ["tpp", "kloc"]
seeds = 3
"""

TOP, SEEDS, SPREAD = 4, 8, 6
ALL = TOP + SEEDS + SPREAD - 2 - 4
"""The different runs: tables have two of the first, and four of the second in common."""


def marks(*names: str) -> str:
    return "# Title\n" + "".join(f"<!-- table {name} -->\n<!-- end -->\n" for name in names)


def state_spread(monkeypatch: pytest.MonkeyPatch, value: float | None) -> None:
    """Let all workloads state a spread, or none."""
    load = workload.load
    monkeypatch.setattr(workload, "load", lambda name: replace(load(name), spread=value))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> Path:
    """A checkout with three tables in two documents."""
    fake_machines.install(monkeypatch.setattr)
    terminal.stdout.cache_clear()
    content = {
        "README.md": marks("top"),
        "docs/results.md": marks("seeds", "spread"),
        "docs/tables.toml": LIST,
        "src/a.py": "one\n",
    }
    directory = repository(tmp_path / "project", content)
    monkeypatch.setattr(bench_tables.paths, "PROJECT", directory)
    state_spread(monkeypatch, None)
    monkeypatch.setattr(bench_tables.paths, "has_laboratory", lambda: True)
    return directory


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The directory of results."""
    return tmp_path / "results"


def tables(results: Path, *argv: str) -> int:
    return run("bench", "tables", f"--results={results}", *argv)


def shown(project: Path) -> dict[str, list[str]]:
    """Return the lines of all tables in the documents."""
    names = ("README.md", "docs/results.md")
    found = [marked.tables(name, (project / name).read_text()) for name in names]
    return {name: lines for document in found for name, lines in document.items()}


def changed_source(project: Path) -> None:
    """Commit a change of a file on which figures may depend."""
    (project / "src/a.py").write_text((project / "src/a.py").read_text() + "more\n")
    commit(project)


def test_all_runs_are_measured_once_and_all_tables_written(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tables(results) == 0
    assert len(fake_machines.ran) == len(set(fake_machines.ran)) == ALL
    assert [path.name for path in results.glob("*.json")] == ["tiered.json"]
    head = checkout.commit(project)
    assert json.loads((results / "tiered.json").read_text())["commit"] == head
    stamps = [marked.stamp(lines) for lines in shown(project).values()]
    assert [stamp and stamp.commit for stamp in stamps] == [head[:7]] * 3
    printed = capsys.readouterr().out
    assert "README.md: table top: written\n" in printed
    assert "\nworkload shift: spread=" in printed
    (row,) = [line for line in shown(project)["spread"] if line.startswith("| `shift`")]
    value = float(printed.partition("workload shift: spread=")[2].split()[0])
    assert row.endswith(f" {100 * value:.1f} % |")


def test_tables_go_by_the_spread_that_the_workload_states_now(
    project: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables(results)
    unknown = "one seed: cannot tell"
    assert any(unknown in line for line in shown(project)["top"])
    state_spread(monkeypatch, 0.001)
    assert tables(results, "--check") == 1
    assert tables(results, "--write") == 0
    assert not any(unknown in line for line in shown(project)["top"])
    assert tables(results, "--check") == 0


def test_a_picture_is_of_the_results_of_its_table(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, listed = project / "docs/pictures/top.svg", project / "docs/tables.toml"
    listed.write_text(listed.read_text().replace("[table.top]", '[table.top]\npicture = "PATH"'))
    listed.write_text(listed.read_text().replace("PATH", "docs/pictures/top.svg"))
    assert tables(results, "top") == 0
    image, *_, stamp = shown(project)["top"]
    assert image == (
        "![One seed: cannot tell which policy is fastest on redis](docs/pictures/top.svg)"
    )
    measured = marked.stamp([stamp])
    assert measured is not None
    drawn = path.read_text()
    assert f"by kloc at commit {measured.commit}, inputs {measured.inputs}." in drawn
    assert "picture of table top: written\n" in capsys.readouterr().out
    assert tables(results, "top", "--check") == 0
    assert tables(results, "top", "--write") == 0
    assert "picture of table top: as it was\n" in capsys.readouterr().out
    path.write_text(drawn.replace("redis", "rocksdb"))
    assert tables(results, "top", "--check") == 1
    assert "but its picture docs/pictures/top.svg does not\n" in capsys.readouterr().out
    assert tables(results, "top", "--write") == 0
    assert path.read_text() == drawn


def test_nothing_is_measured_or_written_again(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results)
    before = shown(project)
    fake_machines.ran.clear()
    capsys.readouterr()
    # The documents with the tables are committed, which changes no figure.
    commit(project)
    assert tables(results) == 0
    assert fake_machines.ran == []
    assert shown(project) == before
    assert "table top: as it was" in capsys.readouterr().out


@pytest.mark.parametrize("finished", [1, 5, ALL - 1])
def test_a_measurement_that_was_stopped_goes_on_and_ends_the_same(
    finished: int, project: Path, results: Path, tmp_path: Path
) -> None:
    assert tables(tmp_path / "whole") == 0
    whole = shown(project)
    for name in ("README.md", "docs/results.md"):
        (project / name).write_text(marks(*marked.tables(name, (project / name).read_text())))
    fake_machines.ran.clear()
    fake_machines.faults["stop"] = finished
    with pytest.raises(Interrupted):
        tables(results)
    assert not any(shown(project).values())
    fake_machines.faults.clear()
    assert tables(results) == 0
    assert shown(project) == whole


def test_a_limit_stops_after_the_first_run_that_ends_later(
    project: Path,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Each look at the clock is a minute after the last one.
    clock = iter(range(0, 100_000, 60))
    monkeypatch.setattr(bench_tables.time, "monotonic", lambda: next(clock))
    assert tables(results, "--limit", "3m") == 1
    first = len(fake_machines.ran)
    assert 0 < first < TOP
    # The oracle of a table may be left, and all-slow is then run again for it.
    printed = capsys.readouterr()
    assert f"README.md: table top: {TOP - first} of 4 runs missing" in printed.out
    assert "--limit is over" in printed.err
    assert not shown(project)["top"]
    assert tables(results) == 0
    assert len(set(fake_machines.ran)) == ALL


def test_write_measures_nothing_and_writes_only_complete_tables(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tables(results, "spread") == 0
    before = len(fake_machines.ran)
    (project / "docs/results.md").write_text(marks("seeds", "spread"))
    capsys.readouterr()
    assert tables(results, "--write") == 1
    assert len(fake_machines.ran) == before
    assert shown(project)["spread"] and not shown(project)["seeds"]
    printed = capsys.readouterr().out.splitlines()
    assert "docs/results.md: table seeds: 4 of 8 runs missing" in printed[1]
    assert "(redis under tpp, seed 1 and 3 more)" in printed[1]
    assert printed[2] == "docs/results.md: table spread: written"


def test_without_results_nothing_is_written(project: Path, results: Path) -> None:
    before = (project / "README.md").read_text()
    assert tables(results, "--write") == 1
    assert (project / "README.md").read_text() == before
    assert not results.exists()


def test_a_dry_run_lists_the_runs_and_how_many_are_done(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results, "spread")
    ran = list(fake_machines.ran)
    capsys.readouterr()
    assert tables(results, "--dry-run") == 0
    assert fake_machines.ran == ran
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "top, in README.md: 0 of 4 runs done"
    assert lines[1] == "  redis under all-slow, seed 1, tiered: missing"
    assert "seeds, in docs/results.md: 4 of 8 runs done" in lines
    assert "  shift under kloc, seed 3, tiered: done" in lines
    assert lines[-1] == f"6 of {ALL} runs done"
    assert tables(results, "spread", "--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "6 of 6 runs done"


def test_check_says_which_documents_show_the_results(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tables(results, "--check") == 1
    assert "README.md: table top: 4 of 4 runs missing" in capsys.readouterr().out
    tables(results)
    capsys.readouterr()
    assert tables(results, "--check") == 0
    assert "README.md: table top: shows the results\n" in capsys.readouterr().out
    path = project / "README.md"
    path.write_text(path.read_text().replace("machine tiered", "machine cxl"))
    assert tables(results, "--check") == 1
    lines = capsys.readouterr().out.splitlines()
    short = checkout.commit(project)[:7]
    assert lines == [
        f"README.md: table top: does not show the results, which are of commit {short}, "
        f"and is of commit {short}",
        "docs/results.md: table seeds: shows the results",
        "docs/results.md: table spread: shows the results",
    ]
    assert "machine cxl" in path.read_text()


def test_a_document_does_not_mix_commits(
    project: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results)
    old, before = checkout.commit(project)[:7], shown(project)
    changed_source(project)
    capsys.readouterr()
    assert tables(tmp_path / "new", "seeds", "top") == 1
    assert shown(project)["seeds"] == before["seeds"]
    new = checkout.commit(project)[:7]
    printed = capsys.readouterr().out
    assert "README.md: table top: written" in printed
    (line,) = [line for line in printed.splitlines() if "not written" in line]
    assert line.startswith("docs/results.md: not written, because table spread would keep")
    assert old in line and new in line and "not all of its runs are measured" in line
    assert tables(tmp_path / "new") == 0
    stamps = [marked.stamp(lines) for lines in shown(project).values()]
    assert [stamp and stamp.commit for stamp in stamps] == [new] * 3


def test_a_table_beside_others_that_are_complete_and_not_chosen_is_not_written(
    project: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results)
    changed_source(project)
    tables(tmp_path / "new", "top", "seeds", "spread")
    path = project / "docs/results.md"
    path.write_text(path.read_text().replace(checkout.commit(project)[:7], "0123456"))
    capsys.readouterr()
    assert tables(tmp_path / "new", "--write", "seeds") == 1
    assert "commit 0123456 beside" in (printed := capsys.readouterr().out)
    assert "(not chosen)" in printed


@pytest.mark.parametrize(
    ("kept", "status"), [("| 1,234 |\n", 1), ("Not measured yet.\n", 0), ("", 0)]
)
def test_figures_of_an_unknown_commit_are_not_left_beside_new_ones(
    kept: str, status: int, project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "docs/results.md"
    text = path.read_text().replace("<!-- table seeds -->\n", f"<!-- table seeds -->\n{kept}")
    path.write_text(text)
    assert tables(results, "spread") == status
    assert bool(shown(project)["spread"]) is not bool(status)
    assert ("an unknown commit" in capsys.readouterr().out) is bool(status)


def test_results_are_of_the_commit_that_is_checked_out(project: Path, results: Path) -> None:
    tables(results, "top")
    old = checkout.commit(project)
    changed_source(project)
    before = len(fake_machines.ran)
    with pytest.raises(
        KlocError, match=rf"results of commit {old[:7]}, .*1 file changed: src/a"
    ) as e:
        tables(results)
    assert "--results DIR" in (e.value.hint or "")
    assert len(fake_machines.ran) == before
    # What is complete can be written at any time.
    assert tables(results, "--write", "top") == 0


def test_a_checkout_with_changes_is_not_measured(project: Path, results: Path) -> None:
    (project / "src/a.py").write_text("two\n")
    with pytest.raises(KlocError, match=r"is not commit .*: 1 file changed: src/a\.py") as found:
        tables(results)
    assert "commit the changes" in (found.value.hint or "")
    assert fake_machines.ran == []


def test_results_of_other_inputs_are_not_continued(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results, "spread")
    fake_machines.faults["kernel"] = "9ab0c1d2e3f40000"
    ran = len(fake_machines.ran)
    assert tables(results, "seeds") == 1
    printed = capsys.readouterr()
    assert "kernel 71c8aa03… vs. 9ab0c1d2…" in printed.err
    assert "--results DIR" in printed.err and "--resume" not in printed.err
    assert len(fake_machines.ran) == ran


def test_results_of_two_commits_are_not_in_one_directory(project: Path, results: Path) -> None:
    tables(results, "top")
    path = project / "docs/tables.toml"
    path.write_text(
        LIST
        + LIST.replace("[table.", "[table.more-").replace("seeds =", 'length = "quick"\nseeds =')
    )
    content = json.loads((results / "tiered.json").read_text())
    (results / "tiered-quick.json").write_text(json.dumps({**content, "commit": "0" * 40}))
    with pytest.raises(KlocError, match="results of several commits: 0000000"):
        tables(results, "--write")
    del content["commit"]
    (results / "tiered-quick.json").write_text(json.dumps(content))
    with pytest.raises(KlocError, match="has no commit"):
        tables(results, "--write")


def test_runs_of_two_kernels_are_not_in_one_document(
    project: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables(results)
    before = (project / "docs/results.md").read_text()
    capsys.readouterr()
    content = json.loads((results / "tiered.json").read_text())
    one = next(run for run in content["runs"] if run["workload"] == "shift")
    one["inputs"]["kernel"] = "9ab0c1d2e3f40000"
    (results / "tiered.json").write_text(json.dumps(content))
    assert tables(results, "--write") == 1
    assert "docs/results.md: not written, because its runs differ in kernel" in (
        capsys.readouterr().out
    )
    assert (project / "docs/results.md").read_text() == before


def test_a_run_that_fails_leaves_the_other_tables(
    project: Path,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    step = fake_machines.Machine.step

    def fail(machine: fake_machines.Machine) -> object:
        if machine.job.name == "redis":
            raise KlocError("the guest's kernel crashed")
        return step(machine)

    monkeypatch.setattr(fake_machines.Machine, "step", fail)
    assert tables(results) == 1
    printed = capsys.readouterr()
    assert "table top: " in printed.err and "crashed" in printed.err
    assert shown(project)["spread"]
    assert not shown(project)["seeds"]


def test_a_document_without_the_mark_is_named(project: Path, results: Path) -> None:
    (project / "README.md").write_text("# Title\n")
    with pytest.raises(KlocError, match=r"README\.md has no table top, which docs/") as e:
        tables(results, "--check")
    assert "'<!-- table top -->'" in (e.value.hint or "")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("tables", "spred"), "did you mean 'spread'"),
        (("tables", "--limit", "1m", "--write"), "--limit: nothing is measured"),
        (("tables", "--dry-run", "--check"), "--dry-run"),
        (("tables", "--kernels", "base"), "--kernels"),
        (("tables", "--json"), "--json"),
        (("cost", "--write"), "--write: kloc bench tables has"),
        (("speed", "--limit", "3m"), "--limit"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    argv: tuple[str, ...], message: str, project: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        run("bench", *argv)


def test_results_are_in_the_cache_by_default(project: Path, empty_cache: Path) -> None:
    assert run("bench", "tables", "top") == 0
    assert (empty_cache / "tables" / "tiered.json").exists()
