# SPDX-License-Identifier: GPL-2.0
"""The top of a report: headline, overview and cards."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.report.cases import cases
from kloc.results.report.headline import card, headline, overview
from kloc.results.report.structure import Card
from support.made_up import comparison, run

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
    check_words(headline_of(*comparison()), "tpp is fastest", "redis", "60 % of the headroom")


def test_headline_names_policies_that_are_level() -> None:
    check_words(headline_of(*comparison(), run("stock", 159)), "tpp and stock", "level", "redis")


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
    runs = [run("tpp", 2, name) for name in ("redis", "fio")] + [run("tpp", 1, "rocksdb")]
    runs += [run("naive", 1, name) for name in ("redis", "fio")] + [run("naive", 2, "rocksdb")]
    check_words(headline_of(*runs), "tpp on redis and fio", "naive on rocksdb")


def test_headline_of_many_workloads_has_counts() -> None:
    runs = [run("tpp", 2, f"w{number}") for number in range(5)]
    runs += [run("naive", 1 if number else 3, f"w{number}") for number in range(5)]
    check_words(headline_of(*runs), "tpp on 4", "naive on 1", "of 5")


def test_headline_of_several_workloads_under_one_policy_names_it() -> None:
    check_words(headline_of(run("tpp", 1), run("tpp", 1, "fio")), "redis and fio", "tpp")
    many = [run("tpp", 1, f"w{number}") for number in range(4)]
    check_words(headline_of(*many), "4", "tpp")


def test_overview_has_a_row_for_each_case_with_the_fastest_policy_marked() -> None:
    found = overview(cases([*comparison(), *comparison(workload="rocksdb")]))
    assert found is not None
    assert list(found.head) == ["naive", "tpp", "oracle"]
    name, cells = found.rows[1]
    assert name == "rocksdb"
    assert [(cell.text, cell.best) for cell in cells] == [
        ("40 %", False),
        ("60 %", True),
        ("80 %", False),
    ]


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
    assert [label for _, label in facts][:3] == ["operations/s", "all-slow", "of all-fast"]
    assert "oracle" in facts[3][1]


def test_card_names_the_next_policy() -> None:
    (remark,) = [text for text in card_of(*comparison()).remarks if "naive" in text]
    assert "12 %" in remark


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
    (case,) = cases(comparison())
    assert (card(case, alone=True).name, card(case, alone=True).headline) == ("", "")
    assert card(case, alone=False).name == "redis"
    check_words(card(case, alone=False).headline, "tpp")
