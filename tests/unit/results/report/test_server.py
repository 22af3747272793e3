# SPDX-License-Identifier: GPL-2.0
"""The report on a native comparison: it says that, and says nothing of the simulated machine."""

from __future__ import annotations

from typing import Any

import pytest

from kloc.results.report.page import page
from kloc.results.report.structure import Page, Section
from support import made_up_native

pytestmark = pytest.mark.usefixtures("undrawn")


def page_of(**changed: Any) -> Page:
    document = made_up_native.document()
    document["native"].update(changed)
    return page(document)


def section(found: Page, name: str) -> Section:
    (result,) = [section for section in found.sections if section.id == name]
    return result


def test_the_subtitle_names_the_server() -> None:
    assert page_of().subtitle.startswith("Measured on the server db1 itself: 64.0 GiB fast (node 0")


def test_no_section_is_of_the_simulated_machine() -> None:
    names = {one.id for one in page_of().sections}
    assert {"throughput", "ahead", "migrations", "effort", "server", "settings"} == names


def test_nodes_are_shown_with_what_the_firmware_tells() -> None:
    nodes = section(page_of(), "server").blocks[0].tables[0]
    assert list(nodes.rows) == [
        ["0", "fast", "64.0 GiB", "0-31", "90 ns", "200 GB/s"],
        ["1", "slow", "128.0 GiB", "none", "210 ns", ""],
    ]


def test_policies_that_were_left_out_are_named() -> None:
    blocks = section(page_of(left_out={"kloc": "no policy kloc"}), "server").blocks
    assert list(blocks[-1].lines) == ["kloc was left out: no policy kloc"]


def test_cpu_time_and_memory_are_medians_over_rounds() -> None:
    rows = section(page_of(), "effort").blocks[0].tables[0].rows
    kloc = next(row for row in rows if row[0] == "kloc")
    assert kloc[1:] == ["440.00 s", "44.00 s", "52.5 GiB", "24.0 GiB"]


def test_what_was_not_counted_has_no_section() -> None:
    document = made_up_native.document()
    for run in document["runs"]:
        del run["cpu_ns"], run["memory_bytes"]
    assert "effort" not in {one.id for one in page(document).sections}


def test_texts_are_of_rounds_and_not_of_seeds_and_headroom() -> None:
    found = page_of()
    card = found.cards[0]
    texts = [*card.remarks, *(label for _, label in card.facts), *(s.intro for s in found.sections)]
    assert "round by round" in " ".join(texts)
    for word in ("seed", "headroom", "simulated time"):
        assert not any(word in text for text in texts), word
