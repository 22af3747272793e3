# SPDX-License-Identifier: GPL-2.0
"""The tables of `kloc bench machine`."""

from __future__ import annotations

from kloc.measure.machine_bench import answers
from kloc.results import machine_bench_table
from support import golden
from support.golden import printed
from support.made_up_answers import machine, measured

CHOSEN = answers.choose(("latency", "cores"))


def rows(name: str, **changed: float) -> list[list[str]]:
    """Return the cells of the table of a machine."""
    table = machine_bench_table.table(measured(machine(name), CHOSEN, **changed))
    return [list(map(str, row)) for row in zip(*(c.cells for c in table.columns), strict=True)]


def test_table_and_remarks_are_printed_as_in_the_golden_file() -> None:
    machines = [measured(machine("cxl"), CHOSEN, slow_idle=1.1)]
    remarks = "\n".join(machine_bench_table.remarks(machines))
    text = printed(machine_bench_table.table(machines[0]))
    golden.check("tables/machine", text + remarks + "\n")


def test_each_published_figure_has_a_row() -> None:
    table = rows("cxl")
    start = next(number for number, row in enumerate(table) if row[0] == "slow: idle latency")
    sources = [row[-1] for row in table[start : start + 6]]
    assert sources == ["Mess CXL", "Vistara", "Melody", "Melody", "CXL-DMSim", ""]
    assert [row[0] for row in table[start + 1 : start + 5]] == [""] * 4


def test_a_deviation_has_a_sign_and_no_expectation_a_dash() -> None:
    table = {row[0]: row for row in rows("tiered", fast_idle=0.9)}
    assert table["fast: idle latency"][2:5] == ["72.0", "80.0", "-10.0"]
    assert table["round trip, pipes"][3:5] == ["-", "-"]


def test_remarks_name_the_answers_that_are_off() -> None:
    good = measured(machine("good"), CHOSEN)
    bad = measured(machine("bad"), CHOSEN, fast_idle=1.1, slow_traffic_50=0.5)
    first, second, *sources = machine_bench_table.remarks([good, bad])
    assert "off" not in first and first.startswith("good: ")
    assert second.endswith("within the tolerance; off: fast.idle.")
    assert all(":" in line for line in sources)
