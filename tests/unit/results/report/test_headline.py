# SPDX-License-Identifier: GPL-2.0
"""The top of a report: headline, overview and cards."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results import ahead
from kloc.results.report.cases import cases
from kloc.results.report.headline import card, headline, overview
from kloc.results.report.structure import Card
from support.made_up import comparison, document, run

pytestmark = pytest.mark.usefixtures("undrawn")


def card_of(*runs: dict[str, Any]) -> Card:
    (case,) = cases(runs)
    return card(case, alone=True)


def headline_of(*runs: dict[str, Any]) -> str:
    return headline(cases(runs))


def check_words(text: str, *words: str) -> None:
    for word in words:
        assert word in text


def test_headline_names_the_fastest_policy_and_its_share_of_the_headroom() -> None:
    text = headline_of(*comparison(spread=0.1))
    check_words(text, "tpp is fastest", "redis", "60 % of the headroom")


def test_headline_names_policies_that_are_level() -> None:
    speeds = {"tpp": (160, 161, 162), "stock": (159, 162, 160), "naive": (100, 101, 102)}
    runs = [run(name, s, seed=n) for name, each in speeds.items() for n, s in enumerate(each)]
    assert headline_of(*runs) == "tpp and stock are level on redis"


def test_headline_says_no_more_than_the_terminal() -> None:
    runs = comparison()
    (line,) = [text for text in ahead.lines(document(*runs)) if "redis" in text]
    assert line.endswith("one seed: cannot tell")
    assert headline_of(*runs) == "One seed: cannot tell which policy is fastest on redis"
    found = card_of(*runs)
    (remark,) = [text for text in found.remarks if "naive" in text]
    check_words(remark, "tpp has the highest throughput", "one seed: cannot tell")
    assert not any("fastest" in text for text in found.remarks)


def test_headline_names_the_policies_of_which_nobody_can_tell() -> None:
    runs = comparison(spread=0.1)
    text = headline_of(*runs, run("stock", 158, spread=0.1))
    assert text == "One seed: cannot tell which of tpp and stock is fastest on redis"


def test_headline_of_bounds_alone_compares_them() -> None:
    check_words(headline_of(run("all-slow", 100), run("all-fast", 250)), "all-fast", "2.50 times")


@pytest.mark.parametrize("policy", ["tpp", "all-slow", "oracle"])
def test_headline_of_one_run_has_its_throughput(policy: str) -> None:
    text = headline_of(run(policy, 100))
    check_words(text, "redis", policy, "100 operations/s")


def test_headline_of_a_timed_program_has_its_time() -> None:
    timed = run("tpp", 0.5, workload="prog", operations=1, seconds=2.0, latency_ns=None)
    check_words(headline_of(timed), "prog", "tpp", "2.00 s")


def test_headline_of_several_workloads_groups_them_by_the_fastest_policy() -> None:
    names = ("redis", "fio")
    runs = [run("tpp", 2, name, spread=0.1) for name in names] + [run("tpp", 1, "rocksdb")]
    runs += [run("naive", 1, name) for name in names] + [run("naive", 2, "rocksdb", spread=0.1)]
    assert headline_of(*runs) == "Fastest: tpp on redis and fio; naive on rocksdb"
    unknown = [run(name, speed, "mail") for name, speed in (("tpp", 2), ("naive", 1))]
    assert headline_of(*runs, *unknown).endswith("; cannot tell on mail")


def test_headline_of_many_workloads_has_counts() -> None:
    runs = [run("tpp", 2, f"w{number}", spread=0.1) for number in range(5)]
    runs += [run("naive", 1 if number else 3, f"w{number}") for number in range(5)]
    assert headline_of(*runs) == "Fastest: tpp on 4 and naive on 1 of 5 comparisons"
    unknown = [run(name, speed, "mail") for name, speed in (("tpp", 2), ("naive", 1))]
    text = headline_of(*runs, *unknown)
    assert text == "Fastest: tpp on 4 and naive on 1 of 6 comparisons; cannot tell on 1"


def test_headline_of_workloads_that_nobody_can_tell_says_so_once() -> None:
    runs = [*comparison(), *comparison(workload="rocksdb")]
    text = headline_of(*runs)
    assert text == "One seed: cannot tell which policy is fastest on redis and rocksdb"


def test_headline_of_several_workloads_under_one_policy_names_it() -> None:
    check_words(headline_of(run("tpp", 1), run("tpp", 1, "fio")), "redis and fio", "tpp")
    many = [run("tpp", 1, f"w{number}") for number in range(4)]
    check_words(headline_of(*many), "4", "tpp")


def test_overview_has_a_row_for_each_case_with_the_fastest_policy_marked() -> None:
    found = overview(cases([*comparison(), *comparison(workload="rocksdb", spread=0.1)]))
    assert found is not None
    assert list(found.head) == ["naive", "tpp", "oracle"]
    name, cells = found.rows[1]
    assert name == "rocksdb"
    assert [(cell.text, cell.best) for cell in cells] == [
        ("40 %", False),
        ("60 %", True),
        ("80 %", False),
    ]
    assert not any(cell.best for cell in found.rows[0][1])


def test_overview_tells_no_headroom_from_an_unknown_one() -> None:
    flat = [run("all-slow", 100, "flat"), run("all-fast", 101, "flat"), run("tpp", 100, "flat")]
    found = overview(cases([*comparison(), *flat, run("tpp", 100, "alone")]))
    assert found is not None
    column = list(found.head).index("tpp")
    texts = [cells[column].text for _, cells in found.rows]
    assert texts[0] == "60 %"
    assert "no" in texts[1]
    assert texts[2] == "?"
    assert found.rows[1][1][0].text == ""


def test_a_single_case_has_no_overview() -> None:
    assert overview(cases(comparison())) is None


def test_card_has_the_main_figures_of_the_fastest_policy() -> None:
    facts = card_of(*comparison()).facts
    assert [value for value, _ in facts] == ["160", "1.60 x", "80 %", "75 %"]
    assert [label for _, label in facts][:3] == [
        "operations/s under tpp",
        "all-slow",
        "of all-fast",
    ]
    assert "oracle" in facts[3][1]


def test_card_has_no_share_of_an_oracle_that_is_no_bound() -> None:
    found = card_of(*comparison(), run("kloc", 181))
    assert not any("oracle" in label for _, label in found.facts)
    assert "The oracle is no bound here: another policy is faster." in found.remarks
    assert found.figure is not None and found.figure.table is not None
    assert "of headroom to oracle" not in found.figure.table.head
    assert not any("no bound" in text for text in card_of(*comparison()).remarks)


def test_card_names_the_next_policy() -> None:
    remarks = card_of(*comparison(spread=0.1)).remarks
    (remark,) = [text for text in remarks if "naive" in text]
    assert "12 %" in remark
    assert any("One seed, judged by the spread" in text for text in remarks)


def test_card_has_the_notes_of_the_fastest_policy() -> None:
    remarks = card_of(run("tpp", 2, notes=["odd"]), run("naive", 1, notes=["even"])).remarks
    assert "tpp: odd" in remarks
    assert not any("even" in remark for remark in remarks)


def test_card_without_headroom_has_no_figure_and_a_remark() -> None:
    found = card_of(run("all-slow", 100), run("all-fast", 101), run("tpp", 100))
    assert found.figure is None
    assert any("no headroom" in remark for remark in found.remarks)


def test_card_without_bounds_has_a_remark() -> None:
    assert any("headroom is unknown" in remark for remark in card_of(run("tpp", 1)).remarks)


def test_card_has_the_parts_of_the_gap_to_all_fast() -> None:
    found = card_of(*comparison())
    check_words(found.parts_title, "tpp", "1.25 s longer", "all-fast")
    assert [(part.label, part.value) for part in found.parts] == [
        ("compute", "+625 ms"),
        ("stalls: application", "+375 ms"),
        ("stalls: slab", "+125 ms"),
        ("storage wait", "+75 ms"),
        ("other idle", "+50 ms"),
    ]


def test_card_explains_parts_that_are_less_than_under_all_fast() -> None:
    assert card_of(*comparison()).parts_note == ""
    # As long as all-fast, with more stalls and so less compute.
    stall = {"slow": {"anon": 3e9}}
    bounds = [run("all-slow", 100), run("all-fast", 200)]
    found = card_of(*bounds, run("tpp", 200, stall_ns=stall))
    assert ("compute", "\N{MINUS SIGN}") in [(part.label, part.value[0]) for part in found.parts]
    check_words(found.parts_note, "Minus, in green", "all-fast", "fewer were executed")
    waits = run("tpp", 190, idle_ns=0, storage_wait_ns=0)
    note = card_of(*bounds, waits).parts_note
    assert "Minus" in note and "executed" not in note


def test_card_without_all_fast_has_the_parts_of_the_run() -> None:
    found = card_of(run("tpp", 500))
    check_words(found.parts_title, "2.00 s", "tpp")
    assert (found.parts[0].label, found.parts[0].value) == ("compute", "1.00 s")
    assert sum(part.share for part in found.parts) == pytest.approx(2.0)


def test_card_shows_the_sum_of_small_parts_as_other() -> None:
    stall = {"slow": dict.fromkeys(("anon", "file", "slab:a", "socket", "pagetable"), 100000000.0)}
    found = card_of(run("tpp", 1000, stall_ns=stall, idle_ns=0, storage_wait_ns=0))
    assert found.parts[-1].label == "other"
    assert len(found.parts) == 6


def test_card_names_its_case_only_among_others() -> None:
    (case,) = cases(comparison(spread=0.1))
    assert (card(case, alone=True).name, card(case, alone=True).headline) == ("", "")
    assert card(case, alone=False).name == "redis"
    check_words(card(case, alone=False).headline, "tpp")
