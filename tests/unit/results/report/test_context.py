# SPDX-License-Identifier: GPL-2.0
"""The sections on the machine and the versions."""

from __future__ import annotations

from kloc.results.report import context
from support.made_up import PROFILE, document, object_document, run


def test_the_machine_has_both_tiers_with_units() -> None:
    section = context.machine(document(run("tpp", 1)))
    assert section is not None
    assert PROFILE["name"] in section.intro and PROFILE["summary"] in section.intro
    memory, parts = (block.tables[0] for block in section.blocks)
    fast, slow = (dict(zip(memory.head, row, strict=True)) for row in memory.rows)
    assert (fast["capacity"], fast["latency"]) == ("192 MiB", "80 ns")
    assert (slow["capacity"], slow["read bandwidth"]) == ("1.25 GiB", "0.9375 GB/s")
    values = {row[0]: row[1] for row in parts.rows}
    assert values["last-level cache"] == "1 MiB, 16 ways"


def test_the_versions_have_packages_apart() -> None:
    section = context.versions(document(run("tpp", 1)))
    assert section is not None
    versions, packages = section.blocks
    assert ["qemu", "10"] in [list(row) for row in versions.tables[0].rows]
    assert packages.folded
    assert [list(row) for row in packages.tables[0].rows] == [["libc6", "2.41"]]


def test_the_versions_have_the_commits_of_kloc() -> None:
    runs = [run("tpp", 1, kloc="aa"), run("kloc", 1, kloc="bb, modified")]
    for shown, expected in (
        (runs[:1], [["kloc, commit", "aa"]]),
        (
            runs,
            [
                ["kloc, commit for redis/tpp", "aa"],
                ["kloc, commit for redis/kloc", "bb, modified"],
            ],
        ),
        ([run("tpp", 1)], [["kloc, commit", "unknown"]]),
    ):
        section = context.versions(document(*shown))
        assert section is not None
        rows = [list(row) for row in section.blocks[0].tables[0].rows]
        assert rows[: len(expected)] == expected
    section = context.versions({**object_document(), "kloc": "cc"})
    assert section is not None
    assert list(section.blocks[0].tables[0].rows[0]) == ["kloc, commit", "cc"]


def test_a_document_without_machine_and_versions_has_no_sections() -> None:
    assert context.machine({}) is None
    assert context.versions({}) is None
