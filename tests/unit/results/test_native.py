# SPDX-License-Identifier: GPL-2.0
"""Results of a comparison on a server itself: its table, and that it stays apart from others."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kloc.base.errors import KlocError
from kloc.results import ahead, document, native, printed, schema
from support import golden, made_up, made_up_native


def shown(content: dict[str, Any], width: int = 80) -> str:
    file = io.StringIO()
    printed.show(content, Console(file=file, width=width, force_terminal=False))
    return file.getvalue()


def test_a_document_is_printed_as_in_the_golden_file() -> None:
    content = made_up_native.document()
    content["native"]["left_out"] = {"kloc": "this kernel has no policy kloc"}
    content["runs"][0]["notes"] = ["pages still moved"]
    golden.check("native", shown(ahead.included(content)))


def test_a_workload_has_operations_a_second() -> None:
    run = made_up_native.run("tpp", 1, 1, 2.0, operations=5000, throughput=2500.0)
    text = shown(made_up_native.document(runs=[run]))
    assert "ops/s" in text and "2,500" in text and "seconds" not in text


def test_long_figures_leave_every_column_readable() -> None:
    runs = [
        made_up_native.run("tpp", number, 1, 2.0, operations=5, throughput=59_401_650.0 + number)
        for number in (1, 2, 3)
    ]
    text = shown(made_up_native.document(runs=runs))
    assert " tpp  " in text and "59,401,652 (59,401,651 to 59,401,653)" in text
    assert "promoted" in text and "demoted" in text and "…" not in text


def test_what_was_not_measured_has_no_column() -> None:
    run = made_up_native.run("tpp", 1, 1, 2.0)
    del run["cpu_ns"], run["memory_bytes"]
    text = shown(made_up_native.document(runs=[run]))
    assert "promoted" in text and "user" not in text and "in fast" not in text


def test_figures_are_medians_over_the_runs_that_have_them() -> None:
    content = made_up_native.document()
    del content["runs"][0]["cpu_ns"]
    rows = [line for line in shown(content).splitlines() if line.startswith(" stock")]
    assert rows[0].split()[1:5] == ["30.2", "(30.0", "to", "30.4)"]
    # Of 30.4 and 30.2 s, each with 20 times as much user time.
    assert rows[1].split()[1:3] == ["606", "60.6"]


def test_each_policy_is_compared_round_by_round() -> None:
    lines = ahead.lines(made_up_native.document())
    assert lines[0] == "stock against tpp, round by round:"
    assert lines[1].split()[-1] == "behind"
    assert lines[3].split()[-1] == "tie"
    two = {policy: seconds[:2] for policy, seconds in made_up_native.SECONDS.items()}
    assert "2 rounds: cannot tell" in ahead.lines(made_up_native.document(two))[3]


def test_a_document_is_a_result_file() -> None:
    schema.validate(Path("native.json"), made_up_native.document())
    broken = made_up_native.document()
    del broken["native"]["nodes"]
    with pytest.raises(KlocError, match=r"native\.nodes: missing"):
        schema.validate(Path("native.json"), broken)


def test_native_and_simulated_results_are_never_joined() -> None:
    measured, simulated = made_up_native.document(), made_up.document(made_up.run("tpp", 50.0))
    assert document.join([measured, simulated]) is None
    differences = document.differences(measured, simulated)
    assert any(line.startswith("native.host: db1 vs. (missing)") for line in differences)
    other = copy.deepcopy(measured)
    for run in other["runs"]:
        run["seed"] = run["round"] = run["round"] + 10
    assert document.join([measured, other]) is None
    assert not native.is_native(simulated)
