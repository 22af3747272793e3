# SPDX-License-Identifier: GPL-2.0
"""The groups of page kinds, parts of time and reasons."""

from __future__ import annotations

import pytest

from kloc.results.report import kinds


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        ("anon", kinds.APPLICATION),
        ("shmem", kinds.APPLICATION),
        ("file", kinds.PAGE_CACHE),
        ("slab:dentry", kinds.SLAB),
        ("page table", kinds.PAGE_TABLES),
        ("pagetable", kinds.PAGE_TABLES),
        ("free", kinds.FREE),
        ("unknown", kinds.UNKNOWN),
        ("a kind of a later kloc", kinds.OTHER),
    ],
)
def test_each_kind_has_a_group(kind: str, group: kinds.Group) -> None:
    assert kinds.group(kind) == group


def test_values_are_summed_by_group() -> None:
    values = {"slab:a": 1.0, "anon": 2.0, "slab:b": 3.0}
    assert kinds.by_group(values) == {kinds.SLAB: 4.0, kinds.APPLICATION: 2.0}


def test_unknown_reasons_are_named_as_they_are() -> None:
    assert kinds.reason("hint_fault").label == "hint fault"
    assert kinds.reason("a_new_reason").label == "a new reason"


def test_parts_of_the_time_have_different_labels() -> None:
    labels = [group.label for group in kinds.TIME]
    assert len(labels) == len(set(labels))
