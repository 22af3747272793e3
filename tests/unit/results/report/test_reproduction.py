# SPDX-License-Identifier: GPL-2.0
"""The commands that repeat the runs of a document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from kloc.measure import workload
from kloc.results.report import reproduction
from kloc.results.report.cases import cases
from support.made_up import comparison, run


def commands(*runs: dict[str, Any]) -> list[str]:
    return list(reproduction.commands(cases(runs)))


def test_a_comparison_is_one_command() -> None:
    runs = [{**found, "seed": seed} for seed in (1, 2) for found in comparison()]
    runs += [{**found, "workload": "rocksdb"} for found in runs]
    assert commands(*runs) == [
        "./kloc compare redis rocksdb --policies all-slow,naive,tpp,oracle,all-fast "
        "--machine tiered --seeds 2"
    ]


def test_a_run_with_another_seed_is_a_command_with_its_variant() -> None:
    machine = {"name": "tiered", "variant": "fast x 1/2, slow bandwidth 1/4"}
    assert commands(run("tpp", 1, seed=7, machine=machine)) == [
        "./kloc run redis --policy tpp --machine tiered --fast 1/2 --slow-bandwidth 1/4 --seed 7"
    ]


@pytest.mark.parametrize(
    ("seeds", "option"), [((1,), "--seeds 1"), ((7,), "--seed 7"), ((2, 3), "--seeds 2,3")]
)
def test_a_comparison_on_other_seeds_is_one_command(seeds: tuple[int, ...], option: str) -> None:
    runs = [{**found, "seed": seed} for seed in seeds for found in comparison()]
    (line,) = commands(*runs)
    assert line.startswith("./kloc compare redis ") and line.endswith(option)


def test_commands_have_the_size() -> None:
    (line,) = commands(run("tpp", 1, size=asdict(workload.LONG)))
    assert "--long" in line.split()


def test_commands_of_cold_runs_are_cold() -> None:
    assert commands(run("tpp", 1, cold=True), run("stock", 1, "rocksdb")) == [
        "./kloc run redis --policy tpp --machine tiered --cold --seed 1",
        "./kloc run rocksdb --policy stock --machine tiered --seed 1",
    ]


def test_a_machine_that_is_no_profile_of_kloc_is_a_file() -> None:
    (line,) = commands(run("tpp", 1, machine={"name": "mine"}))
    assert "--machine mine.toml" in line


def test_a_program_that_is_no_workload_is_run_after_dashes() -> None:
    (line,) = commands(run("tpp", 1, "my prog"))
    before, _, program = line.partition(" -- ")
    assert before.startswith("./kloc run --policy tpp --machine tiered --seed 1 ")
    assert program.startswith("'my prog' ")


def test_placements_by_kind_are_repeated_by_what_if() -> None:
    placed = run("application", 1, placement={"fast": ["anon", "shmem"]})
    assert commands(*comparison(), placed) == ["./kloc what-if redis --machine tiered --seed 1"]


def test_a_command_has_the_options_of_its_arguments() -> None:
    line = reproduction.command("objects", "redis", "tiered", "fast x 2", 3, "quick")
    assert line == "./kloc objects redis --machine tiered --fast 2 --seed 3 --quick"


def test_a_section_has_a_line_for_each_command() -> None:
    (block,) = reproduction.section(["a", "b"]).blocks
    assert block.code == "a\nb"
