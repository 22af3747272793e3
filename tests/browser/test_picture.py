# SPDX-License-Identifier: GPL-2.0
"""Pictures of comparisons in a browser: no text is cut or covered, in the light and in the dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kloc.results import printed
from kloc.results.report import picture
from support import made_up

# The class is in conftest.py, which tests cannot import.
Page = Any

SPEEDS = {
    "all-slow": 260_257.0,
    "autotiering-opm": 508_920.0,
    "tpp": 692_278.0,
    "a-policy-with-a-very-long-name": 706_651.0,
    "all-fast": 898_393.0,
}

BOXES = """
[...document.querySelectorAll("text")].map(text => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left, box.top, box.right, box.bottom];
})
"""

FILLS = """
[...document.querySelectorAll("text, svg > path")].map(one => getComputedStyle(one).fill)
"""

PAPER = "rgb(20, 23, 27)"
"""The background in the dark."""


def show(browser: Page, directory: Path, content: dict[str, Any]) -> None:
    """Open a page with nothing but the picture of a document of runs."""
    path = directory / "page.html"
    path.write_text(f"<!DOCTYPE html><body style='margin: 0'>{picture.render(content)}</body>")
    browser.open(path)


def document(seeds: int, workloads: tuple[str, ...]) -> dict[str, Any]:
    """Return a document of these policies, with pages of several kinds over time."""
    steps = range(1, 40)
    series = {
        "t_ns": [step * 13_000_000 for step in steps],
        "pages_fast": {
            "anon": [16_000 + 200 * step for step in steps],
            "file": [24_000 - 300 * step for step in steps],
            "slab:dentry": [5_000] * len(steps),
        },
    }
    runs = [
        made_up.run(name, speed * (1 + seed / 100), workload, seed=seed, cores=4, series=series)
        for workload in workloads
        for name, speed in SPEEDS.items()
        for seed in range(1, seeds + 1)
    ]
    return printed.with_ratios(made_up.document(*runs), None)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("workloads", [("redis",), ("rocksdb", "a-workload-with-a-long-name")])
def test_no_text_is_cut_or_covers_another(
    seeds: int, workloads: tuple[str, ...], browser: Page, tmp_path: Path
) -> None:
    browser.show()
    show(browser, tmp_path, document(seeds, workloads))
    boxes = browser.value(BOXES)
    width, height = (
        browser.value(f"document.querySelector('svg').viewBox.baseVal.{side}")
        for side in ("width", "height")
    )
    assert len(boxes) > 30
    cut = [
        text
        for text, left, top, right, bottom in boxes
        if left < 2 or top < 2 or right > width - 2 or bottom > height - 2
    ]
    assert not cut
    covered = [
        (one[0], other[0])
        for number, one in enumerate(boxes)
        for other in boxes[:number]
        if min(one[3], other[3]) - max(one[1], other[1]) > 1
        and min(one[4], other[4]) - max(one[2], other[2]) > 4
    ]
    assert not covered


def test_the_dark_style_has_other_colors(browser: Page, tmp_path: Path) -> None:
    found = {}
    for dark in (False, True):
        browser.show(dark=dark)
        show(browser, tmp_path, document(1, ("redis",)))
        found[dark] = browser.value(FILLS)
    assert found[True][0] == PAPER
    pairs = set(zip(found[False], found[True], strict=True))
    assert len({light for light, _ in pairs}) > 6
    # Lines have no fill.
    assert {light for light, dark in pairs if light == dark} <= {"none"}
