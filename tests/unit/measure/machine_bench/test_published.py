# SPDX-License-Identifier: GPL-2.0
"""The table of published figures."""

from __future__ import annotations

from kloc.machine import profile
from kloc.measure.machine_bench import answers, published


def all_figures() -> list[published.Published]:
    """Return the figures of all profiles."""
    return [*published.DRAM, *(one for figures in published.SLOW.values() for one in figures)]


def test_figures_are_of_known_answers_and_sources() -> None:
    names = {answer.name for group in answers.GROUPS for answer in group.answers}
    for figure in all_figures():
        assert figure.answer in names
        assert figure.times is None or figure.times in names
    assert {figure.source for figure in all_figures()} == published.SOURCES.keys()


def test_slow_memory_has_figures_where_a_profile_is_of_a_device() -> None:
    assert published.SLOW.keys() <= set(profile.names())
    assert published.figures("optane", "slow.idle")[0].value == 305
    assert not published.figures("tiered", "slow.idle")
    assert published.figures("tiered", "fast.idle") == published.figures("cxl", "fast.idle") != []
