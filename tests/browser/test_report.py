# SPDX-License-Identifier: GPL-2.0
"""Reports in a browser: layout and contrast on a desk, on a phone, in the dark, and on paper."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kloc.heat.records import Mark
from kloc.results import report
from support import made_up, made_up_heat

# The class is in conftest.py, which tests cannot import.
Page = Any

WIDTHS = {"desk": 1440, "phone": 360}
"""Widths of windows in pixels."""

TEXT_CONTRAST, DRAWING_CONTRAST = 4.5, 3.0
"""The contrast ratios that WCAG 2.1, level AA, requires."""

BOXES = """
[...document.querySelectorAll("svg")].map(svg => {
    const box = svg.getBoundingClientRect();
    return [svg.querySelector("title").textContent, box.width, box.height, box.right];
})
"""

TEXT_OUTSIDE = """
[...document.querySelectorAll("svg")].flatMap(svg => {
    const outer = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < outer.left - 2 || box.right > outer.right + 2;
    }).map(text => text.textContent);
})
"""

CONTRASTS = """
(() => {
    const channels = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = color => {
        const [r, g, b] = channels(color).map(value => {
            value /= 255;
            return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (; element; element = element.parentElement) {
            const color = getComputedStyle(element).backgroundColor;
            if (!/, 0\\)$/.test(color)) return color;
        }
        return "rgb(255, 255, 255)";
    };
    const worst = (elements, color) => Math.min(...elements.map(element => {
        const [one, other] = [light(color(element)), light(behind(element))].sort((a, b) => b - a);
        return (one + 0.05) / (other + 0.05);
    }));
    const all = selector => [...document.querySelectorAll(selector)];
    return [
        worst(all("h1, h2, h3, p, dt, dd, th, td, li, a, summary, figcaption"),
              element => getComputedStyle(element).color),
        // Texts in bars have the bars behind them, which this does not see.
        worst(all("svg text").filter(text => !/paper|dark/.test(text.getAttribute("style"))),
              element => getComputedStyle(element).fill),
    ];
})()
"""


def run(policy: str, throughput: float, seed: int, workload: str) -> dict[str, Any]:
    """Return a run with long series, a long name of a setting, and all colors of page kinds."""
    stall = 0.5e12 / throughput
    steps = range(60)
    return made_up.run(
        policy,
        throughput,
        workload,
        seed=seed,
        settings={"/sys/kernel/debug/sched/numa_balancing/scan_period_max_ms": "1405"},
        stall_ns={
            "fast": {"anon": {"user": stall / 4}, "file": {"kernel": stall / 4}},
            "slow": {"slab:dentry": {"kernel": stall / 4}, "socket": {"kernel": stall / 4}},
        },
        warm_up=made_up.warm_up(
            *((60 + i, 1000 - 100 * i) for i in range(5)),
            series={
                "t_ns": [(i + 1) * 5_000_000 for i in steps],
                "instructions": [(i + 1) * 20_000_000 for i in steps],
                "promoted": [50 * i for i in steps],
                "demoted": [25 * i for i in steps],
            },
        ),
        series={
            "t_ns": [(i + 1) * 5_000_000 for i in steps],
            "instructions": [(i + 1) * 25_000_000 for i in steps],
            "promoted": [10 * i for i in steps],
            "demoted": [5 * i for i in steps],
            "pages_fast": {"anon": [30_000 + 100 * i for i in steps]},
            "pages_slow": {"file": [20_000 - 100 * i for i in steps]},
        },
        notes=["12 pages were evicted to storage"] if policy == "stock" else [],
    )


def runs_document() -> dict[str, Any]:
    """Return a document of two workloads, one with a long name, and three seeds."""
    speeds = {"all-slow": 100, "stock": 140, "tpp": 160, "all-fast": 200}
    runs = [
        run(policy, speed + seed, seed, workload)
        for workload in ("redis", "a-program-with-a-very-long-name")
        for policy, speed in speeds.items()
        for seed in (1, 2, 3)
    ]
    return made_up.document(*runs)


def memory_document() -> dict[str, Any]:
    """Return a document of policies whose memory was sampled: performance and efficiency."""
    speeds = {"baseline": 100, "rec": 99, "ethp": 101, "prcl": 83, "prcl-auto": 98}
    mib = 1 << 20
    runs = [
        made_up.run(
            policy,
            speed,
            workload,
            memory={
                "mean": float(speed * mib),
                "resident": float((speed - 10) * mib),
                "swapped": float(10 * mib),
                "samples": 9,
            },
        )
        for workload in ("redis", "a-program-with-a-very-long-name")
        for policy, speed in speeds.items()
    ]
    return made_up.document(*runs)


def object_document() -> dict[str, Any]:
    """Return a document of `kloc objects` with kinds of several groups, and all durations."""

    def use(pages: int) -> dict[str, Any]:
        times = {"p50": 1e3 * pages, "p90": 1e4 * pages, "p99": 1e6 * pages}
        shares = {"references": pages / 100, "misses": pages / 100}
        return {"pages_allocated": pages, **shares, "lifetime_ns": times, "interval_ns": times}

    pages = {"anon": 30, "file": 30, "slab:dentry": 20, "slab:skbuff_small_head": 15, "socket": 5}
    kinds = {kind: use(count) for kind, count in pages.items()}
    return {**made_up.object_document(), "inputs": {"small": kinds, "large": kinds}}


DOCUMENTS = {
    "runs": runs_document(),
    "objects": object_document(),
    "heat": {
        **runs_document(),
        "heatmaps": [
            made_up_heat.record(marks=(Mark(4.0, "measured"),)),
            made_up_heat.physical(title="redis under tpp, seed 1"),
            made_up_heat.with_kinds(title="redis under kloc, seed 1"),
        ],
    },
    "memory": memory_document(),
}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a report on each of DOCUMENTS."""
    directory = tmp_path_factory.mktemp("reports")
    for name, document in DOCUMENTS.items():
        report.write(directory / f"{name}.html", document)
    return directory


@pytest.mark.parametrize("name", DOCUMENTS)
def test_title_and_headline_are_shown(browser: Page, files: Path, name: str) -> None:
    browser.open(files / f"{name}.html")
    headline = browser.value("document.querySelector('h1').innerText")
    assert "redis" in headline
    assert browser.value("document.title") == f"kloc: {headline}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_everything_fits_and_is_legible(
    browser: Page, files: Path, name: str, width: int, dark: bool
) -> None:
    browser.open(files / f"{name}.html")
    browser.show(dark=dark, width=width)
    boxes = browser.value(BOXES)
    assert boxes
    assert all(wide > 200 and high > 60 for _, wide, high, _ in boxes), boxes
    assert all(right <= width for *_, right in boxes), boxes
    # Only tables scroll sideways, and each on its own.
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(TEXT_OUTSIDE) == []
    text, drawn = browser.value(CONTRASTS)
    assert text >= TEXT_CONTRAST
    assert drawn >= DRAWING_CONTRAST


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_overview_is_shown_whole(browser: Page, files: Path, width: int) -> None:
    browser.open(files / "runs.html")
    browser.show(width=width)
    box = "document.querySelector('.overview .wide')"
    assert browser.value(f"{box}.scrollWidth") <= browser.value(f"{box}.clientWidth")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_report_loads_nothing_else_and_logs_nothing(
    browser: Page, files: Path, name: str
) -> None:
    browser.open(files / f"{name}.html")
    browser.show(dark=True)
    methods = {event["method"] for event in browser.events}
    assert not {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"} & methods
    requests = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    # A picture of a heat map is in the page itself.
    outside = [url for url in requests if not url.startswith("data:")]
    assert outside == [(files / f"{name}.html").as_uri()]


def test_light_and_dark_differ_and_paper_is_light(browser: Page, files: Path) -> None:
    browser.open(files / "runs.html")
    colors = {}
    for dark, medium in ((False, "screen"), (True, "screen"), (True, "print")):
        browser.show(dark=dark, medium=medium)
        ink = browser.value("getComputedStyle(document.querySelector('svg text')).fill")
        paper = browser.value("getComputedStyle(document.body).backgroundColor")
        colors[dark, medium] = (ink, paper)
    light = ("rgb(91, 99, 109)", "rgb(255, 255, 255)")
    assert colors[False, "screen"] == colors[True, "print"] == light
    assert colors[True, "screen"] == ("rgb(160, 168, 178)", "rgb(20, 23, 27)")


def test_figures_have_the_font_of_the_page(browser: Page, files: Path) -> None:
    browser.open(files / "runs.html")
    font = "getComputedStyle(document.querySelector('{}')).fontFamily"
    assert browser.value(font.format("svg text")) == browser.value(font.format("body"))


def test_the_data_of_a_figure_is_shown_on_demand(browser: Page, files: Path) -> None:
    browser.open(files / "runs.html")
    shown = "document.querySelector('figure details table').checkVisibility()"
    assert not browser.value(shown)
    browser.value("document.querySelector('figure details').open = true")
    assert browser.value(shown)
    browser.show(width=WIDTHS["phone"])
    assert browser.value("document.documentElement.scrollWidth") <= WIDTHS["phone"]


def test_no_figure_is_cut_on_paper(browser: Page, files: Path) -> None:
    browser.open(files / "runs.html")
    browser.show(dark=True, medium="print")
    uncut = (
        "[...document.querySelectorAll('figure')].every("
        "figure => getComputedStyle(figure).breakInside === 'avoid')"
    )
    assert browser.value(uncut)
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 1


def test_links_at_the_top_lead_to_sections(browser: Page, files: Path) -> None:
    browser.open(files / "runs.html")
    names = browser.value("[...document.querySelectorAll('nav a')].map(link => link.hash)")
    assert "#time" in names
    for name in names:
        assert browser.value(f"!!document.querySelector({json.dumps(name)})"), name
