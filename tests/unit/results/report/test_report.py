# SPDX-License-Identifier: GPL-2.0
"""Reports as files: their text, that they need no other file, and that names are escaped."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.results import report
from kloc.results.report.figure import COLORS
from support import golden
from support.made_up import comparison, document, object_document, oracle, run
from support.parsed_html import Html

EVIL = "<script>alert('$x$')</script>\x07\ud800&\"quoted\""

NOTE = "12 pages were evicted to storage"

MOVED_BY = {"promoted": {"hint_fault": 3}, "demoted": {"context": 3, "lru": 1}}

DOCUMENTS = {
    "runs": document(*comparison(spread=0.1, kloc="0123456789ab")),
    "workloads": document(
        *comparison(notes=[NOTE]),
        *comparison(workload="rocksdb", seed=2, settings={}, moved_by=MOVED_BY),
    ),
    "objects": object_document(),
}


@pytest.fixture(scope="module", params=["runs", "objects"])
def text(request: pytest.FixtureRequest) -> str:
    """The report on a document, with its drawings."""
    return report.render(DOCUMENTS[request.param])


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_text_of_a_report_is_that_of_the_golden_file(name: str) -> None:
    golden.check(f"reports/{name}", Html(report.render(DOCUMENTS[name])).visible())


@pytest.mark.parametrize("name", ["runs", "objects"])
def test_the_same_document_gives_the_same_bytes(name: str) -> None:
    found = DOCUMENTS[name]
    assert report.render(found) == report.render(copy.deepcopy(found))


def test_a_report_needs_no_other_file(text: str) -> None:
    assert "http" not in text
    assert "@import" not in text
    parsed = Html(text)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in parsed.tags}
    assert all(link.startswith("#") for link in parsed.attributes("href"))
    assert not parsed.attributes("src")
    assert not re.findall(r"url\((?!#)", text)


def test_ids_are_unique_and_links_lead_to_one(text: str) -> None:
    parsed = Html(text)
    ids = parsed.attributes("id")
    assert len(ids) == len(set(ids))
    links = {link.removeprefix("#") for link in parsed.attributes("href")}
    links |= set(parsed.attributes("aria-labelledby"))
    links |= set(re.findall(r"url\(#([^)]+)\)", text))
    assert links <= set(ids)


def test_all_colors_have_a_light_and_a_dark_value(text: str) -> None:
    light, dark = text.split("@media screen and (prefers-color-scheme: dark)")
    body = dark[dark.index("<body>") :]
    used = set(re.findall(r"var\(--(\w+)\)", body))
    assert used
    for name in used:
        assert f"  --{name}: #" in light
        assert f"    --{name}: #" in dark
    assert not [color for color in COLORS.values() if color in body]
    assert not re.findall(r"(?:fill|stroke): ?#", body)


def test_each_figure_has_a_title_for_screen_readers(text: str) -> None:
    parsed = Html(text)
    figures = [found for tag, found in parsed.tags if tag == "svg"]
    assert figures
    assert all(found["role"] == "img" for found in figures)
    titles = parsed.texts["title"][1:]
    assert len(titles) == len(figures)
    assert all("redis" in title for title in titles)


@pytest.mark.parametrize("place", ["workload", "policy", "variant", "thread", "kind", "note"])
def test_names_are_escaped(place: str) -> None:
    evil = run("tpp", 100)
    if place in ("workload", "policy"):
        evil[place] = EVIL
    evil["machine"]["variant"] = EVIL if place == "variant" else ""
    if place == "thread":
        evil["background"][EVIL] = evil["background"]["kswapd0"]
    if place == "kind":
        evil["stall_ns"]["slow"]["slab:" + EVIL] = 5
    if place == "note":
        evil["notes"] = [EVIL]
    bounds = [{**evil, "policy": name} for name in ("all-slow", "all-fast")]
    runs = [evil, *bounds] if place == "policy" else [evil]
    parsed = Html(report.render(document(*runs)))
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert any("<script>alert('$x$')" in text for text in parsed.texts["body"])


@pytest.mark.usefixtures("undrawn")
def test_the_overview_names_policies_in_each_cell_for_narrow_windows() -> None:
    parsed = Html(report.render(DOCUMENTS["workloads"]))
    assert parsed.attributes("data-label") == 2 * ["naive", "tpp", "oracle"]


@pytest.mark.usefixtures("undrawn")
def test_a_document_of_an_older_kloc_is_rendered() -> None:
    old = run("tpp", 100)
    for key in ("series", "background", "notes", "hint_faults", "migrated_pages", "settings"):
        del old[key]
    (headline,) = Html(report.render({"schema": 1, "runs": [old]})).texts["h1"]
    assert "tpp" in headline


@pytest.mark.usefixtures("undrawn")
def test_the_oracle_alone_is_rendered() -> None:
    (headline,) = Html(report.render(document(oracle(180)))).texts["h1"]
    assert "oracle" in headline


def test_a_run_without_samples_is_rendered() -> None:
    series = {"t_ns": [], "pages_fast": {}, "pages_slow": {}}
    parsed = Html(report.render(document(run("all-slow", 100, series=series))))
    assert {"pages", "versions"} & set(parsed.attributes("id")) == {"versions"}


@pytest.mark.usefixtures("undrawn")
def test_a_report_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report.write(path, document(*comparison()))
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(KlocError, match=r"report\.html"):
        report.write(tmp_path / "none" / "report.html", document(*comparison()))
