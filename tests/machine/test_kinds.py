# SPDX-License-Identifier: GPL-2.0
"""The kind of a new page comes from who asks for it, also while the kernel fills the page."""

from __future__ import annotations

from typing import Any

import pytest

from support.in_machine import MIB_OF_PAGES, SCARCE, kloc_run, read_run

pytestmark = pytest.mark.machine

FILES, MIB = 12, 4
"""Large files that are written, and their size: most of them find no room in fast memory."""

LINES_PER_PAGE = 64

# Without a pipe, whose pages are of no kind.
WRITES = f"""
for i in $(seq 100); do echo $i >/data/$i; done
for i in $(seq {FILES}); do head -c {MIB << 20} /dev/zero >/data/large$i; done
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    result = tmp_path_factory.mktemp("kinds") / "result.json"
    setup = result.with_name("setup")
    setup.write_text(SCARCE)
    options = ["--policy", "kloc", "--setup", setup, "--json", result]
    kloc_run(*options, "--", "sh", "-ec", WRITES)
    return read_run(result)


def test_new_pages_of_files_are_filled_as_pages_of_files(run: dict[str, Any]) -> None:
    """The kernel clears each page before the program writes it."""
    pages = run["series"]["pages_slow"]["file"][-1]
    assert pages > FILES / 2 * MIB * MIB_OF_PAGES
    misses = {kind: sum(modes.values()) for kind, modes in run["misses"]["slow"].items()}
    assert misses["file"] >= pages * LINES_PER_PAGE
    assert misses["file"] + misses["blockdev"] > 0.95 * sum(misses.values())
    # This is the kind that such pages were counted as once. kswapd may demote some that are of it.
    assert max(run["series"]["pages_slow"].get("anon", [0])) < pages // 20


def test_no_stall_is_charged_to_a_kind_without_pages(run: dict[str, Any]) -> None:
    for tier in ("fast", "slow"):
        pages = run["series"][f"pages_{tier}"]
        stalls = {kind: sum(modes.values()) for kind, modes in run["stall_ns"][tier].items()}
        charged = {kind: stall for kind, stall in stalls.items() if not any(pages.get(kind, [0]))}
        assert not any(charged.values()), charged
