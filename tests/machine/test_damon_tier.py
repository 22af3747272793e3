# SPDX-License-Identifier: GPL-2.0
"""Tiering with DAMON in the machine: hot memory is promoted, and cold memory is demoted."""

from __future__ import annotations

from typing import Any

import pytest

from support.in_machine import kloc_run, read_run

pytestmark = pytest.mark.machine

MIB, HOT_MIB = 320, 4
# Of fast memory's 192 MiB, the program fills about 120 with what it never accesses again.
COLD_MIB = 64

# Fills fast memory and a part of slow memory, then writes again and again to the last pages, for
# 3 s of the machine's time: DAMON, with few regions, finds them sooner or later by its draw.
PROGRAM = f"""
$memory = "x" x ({MIB} << 20);
for (1 .. 300) {{
    substr($memory, 4096 * $_, 8) = "accessed" for {(MIB - HOT_MIB) * 256} .. {MIB * 256 - 1};
    select undef, undef, undef, 0.01;
}}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The runs of PROGRAM by policy."""
    directory = tmp_path_factory.mktemp("damon-tier")
    for name in ("stock", "damon-tier"):
        path = directory / f"{name}.json"
        kloc_run("--policy", name, "--json", path, "--", "perl", "-e", PROGRAM)
    return {name: read_run(directory / f"{name}.json") for name in ("stock", "damon-tier")}


def moved(run: dict[str, Any], direction: str) -> int:
    return sum(run["migrated_pages"][direction].values())


def test_nothing_moves_without_damon(runs: dict[str, dict[str, Any]]) -> None:
    assert moved(runs["stock"], "promoted") == moved(runs["stock"], "demoted") == 0


def test_damon_promotes_what_is_accessed_and_demotes_what_is_not(
    runs: dict[str, dict[str, Any]],
) -> None:
    run = runs["damon-tier"]
    assert moved(run, "promoted") > HOT_MIB * 256 // 2
    # The quota is used for all of fast memory, not for its first regions.
    assert moved(run, "demoted") > COLD_MIB * 256
    assert not any("did nothing" in note for note in run["notes"])


def test_each_scheme_has_its_statistics(runs: dict[str, dict[str, Any]]) -> None:
    scheme = runs["damon-tier"]["scheme"]
    actions = [line.split()[6] for line in scheme["schemes"]]
    assert actions == ["migrate_cold", "migrate_hot"]
    for stats, direction in zip(scheme["stats"], ("demoted", "promoted"), strict=True):
        assert stats["sz_applied"] >= 4096 * moved(runs["damon-tier"], direction) > 0
        assert stats["qt_exceeds"] > 0
