# SPDX-License-Identifier: GPL-2.0
"""What pages are used for: counts brought under known names."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.commands import objects as command
from kloc.machine import model_config, profile
from kloc.measure import object_use, workload
from kloc.measure.workload import FULL, QUICK
from support.made_up import OBJECTS


def test_the_journal_s_and_the_sockets_slabs_are_theirs() -> None:
    uses = object_use.uses(OBJECTS)
    assert set(uses) == {
        "other",
        "anon",
        "file",
        "slab:dentry",
        "slab:kmalloc-8",
        "slab:kmalloc-16",
        "journal",
        "socket",
    }
    assert (uses["journal"].allocated, uses["journal"].references) == (17, 5)
    assert uses["journal"].lifetimes == {(8, 9): 3, (16, 18): 1}
    assert uses["journal"].alive_at_end == 13
    assert (uses["socket"].allocated, uses["other"].references) == (10, 3)


def options(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(argv)


def test_a_plot_of_another_kind_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"plot\.pdf.*\.svg"):
        command.run(options("redis", "--plot", f"{tmp_path}/plot.pdf"))


def test_a_dry_run_names_both_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("redis", "--dry-run")) == 0
    assert capsys.readouterr().out.splitlines() == [
        "redis under naive, seed 1, small input, observed",
        "redis under naive, seed 1, large input, observed",
    ]


def test_the_model_is_told_to_observe() -> None:
    tasks = object_use.tasks(workload.load("redis"), profile.load("tiered"), 1)
    assert [task.size for task in tasks.values()] == [QUICK, FULL]
    memory = {"fast": "/fast", "slow": "/slow", "page": "/page"}
    for task in tasks.values():
        assert "\nobserve=1\n" in model_config.model_config(task.job(), Path("/run"), memory)
