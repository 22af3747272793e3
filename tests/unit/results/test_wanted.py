# SPDX-License-Identifier: GPL-2.0
"""The list of tables in README.md and docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc import cli
from kloc.base.errors import KlocError, UsageError
from kloc.base.paths import PROJECT
from kloc.measure import policy, workload
from kloc.results import marked, wanted
from kloc.results.wanted import Wanted
from support.made_up import run

ENTRY = 'document = "README.md"\nform = "terminal"\n'


def load(tmp_path: Path, text: str) -> dict[str, Wanted]:
    """Return the tables of a list."""
    (tmp_path / "docs").mkdir(exist_ok=True)
    (tmp_path / wanted.LIST).write_text(text)
    return wanted.load(tmp_path)


def test_a_table_has_defaults_as_those_of_kloc_compare(tmp_path: Path) -> None:
    (table,) = load(tmp_path, f"[table.a]\n{ENTRY}").values()
    assert (table.name, table.document, table.series) == ("a", "README.md", "tiered")
    assert table.workload_names == tuple(workload.names())
    assert (table.policies, table.seed_numbers) == (policy.COMPARED, (1,))
    assert len(table.identities()) == len(workload.names()) * len(policy.COMPARED)


def test_missing_runs_and_those_of_the_table_are_found_among_others(tmp_path: Path) -> None:
    text = f'[table.a]\n{ENTRY}workloads = ["redis"]\npolicies = ["kloc", "tpp"]\nseeds = 2\n'
    (table,) = load(tmp_path, text).values()
    runs = [run("tpp", 1, seed=2), run("stock", 1), run("kloc", 2, seed=1), run("tpp", 3, seed=1)]
    assert table.missing(runs) == [("redis", "kloc", "2", "")]
    runs.append(run("kloc", 4, seed=2))
    found = [(one["policy"], one["seed"]) for one in table.chosen(runs)]
    assert found == [("kloc", 1), ("kloc", 2), ("tpp", 1), ("tpp", 2)]


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ("", ""),
        ("seeds = 3", " --seeds 3"),
        ("seeds = [5]", " --seed 5"),
        ("seeds = [4, 6]", " --seeds 4,6"),
        ('length = "long"\ncold = true', " --long --cold"),
        ('machine = "cxl"', " --machine cxl"),
        ('against = "stock"', " --against stock"),
        ('policies = ["tpp", "kloc"]', " --policies tpp,kloc"),
    ],
)
def test_the_command_of_a_table_measures_its_runs(keys: str, options: str, tmp_path: Path) -> None:
    (table,) = load(tmp_path, f'[table.a]\n{ENTRY}workloads = ["redis"]\n{keys}\n').values()
    assert table.command() == f"./kloc compare redis{options}"
    args = cli.parse(table.command().split()[1:])
    seeds = args.seeds if args.seed is None else (args.seed,)
    assert seeds == table.seed_numbers


@pytest.mark.parametrize(
    ("keys", "series"),
    [
        ("", "tiered"),
        ('machine = "cxl"\nlength = "quick"\ncold = true', "cxl-quick-cold"),
        ('length = "long"', "tiered-long"),
    ],
)
def test_results_of_one_machine_and_size_are_a_series(
    keys: str, series: str, tmp_path: Path
) -> None:
    (table,) = load(tmp_path, f"[table.a]\n{ENTRY}{keys}\n").values()
    assert table.series == series


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected tables"),
        ("[tables.a]\n", "expected tables"),
        ("[table]\na = 1\n", "table.a must be a table"),
        ("[table.a]\n", "table.a.document, table.a.form are missing"),
        (f"[table.a]\n{ENTRY}seed = 1\n", "unknown key 'table.a.seed'"),
        (f'[table.a]\n{ENTRY}workloads = ["reddis"]\n', "table.a: unknown workload 'reddis', did"),
        (f'[table.a]\n{ENTRY}policies = ["ttp"]\n', "table.a: unknown policy 'ttp'"),
        ('[table.a]\ndocument = "a"\nform = "tables"\n', "table.a: unknown form 'tables'"),
        (f'[table.a]\n{ENTRY}length = "short"\n', "table.a: unknown length 'short'"),
        (f"[table.a]\n{ENTRY}seeds = 0\n", "one seed or more"),
        (f'[table.a]\n{ENTRY}picture = "docs/a.png"\n', "expected an .svg file in docs"),
        (f'[table.a]\n{ENTRY}picture = "docs/../a.svg"\n', "expected an .svg file in docs"),
        (f'[table.a]\n{ENTRY}machine = "cxll"\n', "did you mean 'cxl'"),
        ('[table.a]\ndocument = "a"\nform = "spread"\n', "one seed has no spread"),
        (
            '[table.a]\ndocument = "a"\nform = "ratios"\npolicies = ["tpp"]\n',
            "unknown policy 'kloc'",
        ),
        (f'[table.a]\n{ENTRY}against = "prcl"\n', "unknown policy 'prcl'"),
        (
            '[table.a]\ndocument = "a"\nform = "ratios"\npolicies = ["oracle", "kloc-cap"]\n'
            'compared = ["kloc-cap"]\n',
            "no baseline",
        ),
    ],
)
def test_what_is_wrong_in_the_list_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=message):
        load(tmp_path, text)


def test_tables_are_chosen_by_name(tmp_path: Path) -> None:
    tables = load(tmp_path, f"[table.a]\n{ENTRY}[table.b]\n{ENTRY}")
    assert [one.name for one in wanted.choose(tables, [])] == ["a", "b"]
    assert [one.name for one in wanted.choose(tables, ["b", "b"])] == ["b"]
    with pytest.raises(UsageError, match="unknown table 'c'"):
        wanted.choose(tables, ["c"])


def test_documents_of_the_project_have_the_marks_of_all_tables_and_no_others() -> None:
    listed = wanted.load(PROJECT)
    documents = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    found = {
        (str(path.relative_to(PROJECT)), name)
        for path in documents
        for name in marked.tables(path.name, path.read_text())
    }
    assert found == {(table.document, table.name) for table in listed.values()}


def test_pictures_of_the_project_are_measured_with_what_their_tables_are() -> None:
    for table in wanted.load(PROJECT).values():
        if not table.picture:
            continue
        lines = marked.tables("", (PROJECT / table.document).read_text())[table.name]
        is_shown = lines[0].startswith("![")
        # Until the tables are measured again, neither the picture nor the line is there.
        assert is_shown == (PROJECT / table.picture).exists()
        if is_shown:
            stamp = marked.stamp(lines)
            assert stamp is not None
            measured = f"at commit {stamp.commit}, inputs {stamp.inputs}."
            assert measured in (PROJECT / table.picture).read_text()


def test_the_spread_of_every_workload_is_listed() -> None:
    listed = wanted.load(PROJECT)
    tables = [listed["spread"], listed["spread-others"]]
    names = [name for table in tables for name in table.workload_names]
    assert sorted(names) == sorted(workload.names())
    stating = [one.name for one in workload.registry().values() if one.spread is not None]
    assert sorted(tables[0].workload_names) == sorted(stating)
    for table in tables:
        assert set(table.policies) == {"tpp", "kloc"}
        assert table.seed_numbers == tuple(range(1, 5))
