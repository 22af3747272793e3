# SPDX-License-Identifier: GPL-2.0
"""Reports: what they say and show of small documents, and that they stand alone."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TextIO

import pytest
from matplotlib.figure import Figure

from kloc.base.errors import KlocError
from kloc.results import report
from kloc.results.report import object_page, page, plots
from kloc.results.report.cases import Spread, cases
from kloc.results.report.figure import COLOURS
from kloc.results.report.kinds import APPLICATION, OTHER, SLAB, STORAGE
from kloc.results.report.structure import Page, Section
from support.made_up import run

VOID = {"meta", "path", "use"}
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>'


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures have their numbers and no drawing, which takes most of the time."""

    def save(_: Figure, buffer: TextIO, **__: object) -> None:
        buffer.write(BLANK)

    monkeypatch.setattr(Figure, "savefig", save)


class Html(HTMLParser):
    """What a test asks of a page: its elements, the text in them, and that they are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def attributes(self, name: str) -> list[str]:
        return [value for _, found in self.tags if (value := found.get(name)) is not None]


def oracle(throughput: float, **other: Any) -> dict[str, Any]:
    keys = ("workload", "policy", "machine", "seed", "cores", "operations", "seconds", "throughput")
    made = {key: value for key, value in run("oracle", throughput, **other).items() if key in keys}
    return {**made, "latency_ns": None, "settings": {}, "computed": True, "notes": ["computed"]}


def compared(**other: Any) -> list[dict[str, Any]]:
    speeds = {"all-slow": 100, "naive": 140, "tpp": 160, "all-fast": 200}
    return [run(name, speed, **other) for name, speed in speeds.items()] + [oracle(180, **other)]


def document(*runs: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "kernel": {"release": "6.12.1", "series": "abc"},
        "versions": {"qemu": "10", "guest": {"libc6": "2.41"}},
        "machine": {
            "name": "tiered",
            "summary": "slow memory",
            "scale": 42.7,
            "fast": {"capacity": 192 << 20, "read_latency_ns": 80.0},
        },
        "runs": list(runs),
    }


def objects() -> dict[str, Any]:
    def kind(pages: int, share: float, live: float | None) -> dict[str, Any]:
        times = {"p50": live, "p90": live and 3 * live, "p99": live and 9 * live}
        return {
            "pages_allocated": pages,
            "references": share,
            "misses": share,
            "lifetime_ns": times,
            "interval_ns": None,
        }

    small = {"anon": kind(60, 0.5, 2e9), "slab:dentry": kind(40, 0.5, 36e6)}
    large = {"anon": kind(250, 0.25, 2e9), "file": kind(750, 0.75, None)}
    return {
        "schema": 1,
        "workload": "redis",
        "seed": 3,
        "variant": "fast x 2",
        "machine": {"name": "tiered"},
        "inputs": {"small": small, "large": large},
    }


def section(made: Page, name: str) -> Section:
    (found,) = [each for each in made.sections if each.id == name]
    return found


@pytest.mark.usefixtures("undrawn")
def test_the_headline_says_who_won_and_how_much() -> None:
    made = page.page(document(*compared()))
    assert made.headline == "tpp is fastest on redis: 60 % of what there is to win"
    (card,) = made.cards
    assert list(card.facts) == [
        ("160", "operations/s"),
        ("1.60 x", "all-slow"),
        ("80 %", "of all-fast"),
        ("75 %", "of the way to the oracle"),
    ]
    assert "naive is next, 12 % slower." in card.remarks


@pytest.mark.usefixtures("undrawn")
def test_the_card_says_where_the_rest_of_the_time_goes() -> None:
    (card,) = page.page(document(*compared())).cards
    assert card.parts_title == "Where the rest goes: tpp takes 1.25 s longer than all-fast"
    assert [(part.label, part.value) for part in card.parts] == [
        ("compute", "+625 ms"),
        ("stalls: application", "+375 ms"),
        ("stalls: slab", "+125 ms"),
        ("storage wait", "+75 ms"),
        ("other idle", "+50 ms"),
    ]


@pytest.mark.usefixtures("undrawn")
def test_policies_within_one_percent_are_level() -> None:
    runs = [*compared(), run("stock", 159)]
    assert page.page(document(*runs)).headline.startswith("tpp and stock are level on redis")


def test_policies_whose_ranges_over_seeds_overlap_are_level() -> None:
    speeds = {"naive": (90, 100, 110), "tpp": (95, 120, 130), "stock": (50, 60, 70)}
    runs = [
        run(name, speed, seed=seed)
        for name, of_seeds in speeds.items()
        for seed, speed in enumerate(of_seeds, 1)
    ]
    (case,) = cases(runs)
    assert case.best() == ["tpp", "naive"]
    assert case.spread("tpp", "throughput") == Spread(120, 95, 130, 3)


def test_shares_are_taken_seed_by_seed() -> None:
    runs = [run("all-slow", 100), run("all-fast", 200), run("tpp", 150)]
    runs += [{**each, "seed": 2, "throughput": 2 * each["throughput"]} for each in runs]
    (case,) = cases(runs)
    assert case.way("tpp") == Spread(0.5, 0.5, 0.5, 2)


@pytest.mark.usefixtures("undrawn")
def test_several_workloads_have_an_overview() -> None:
    made = page.page(document(*compared(), *compared(workload="rocksdb")))
    assert made.headline == "Fastest: tpp on redis and rocksdb"
    assert made.overview is not None
    assert list(made.overview.head) == ["naive", "tpp", "oracle"]
    name, cells = made.overview.rows[1]
    assert name == "rocksdb"
    assert [(cell.text, cell.best) for cell in cells] == [
        ("40 %", False),
        ("60 %", True),
        ("80 %", False),
    ]


@pytest.mark.usefixtures("undrawn")
def test_bounds_without_a_difference_leave_nothing_to_win() -> None:
    made = page.page(document(run("all-slow", 100), run("all-fast", 101), run("tpp", 100)))
    assert made.headline == "redis under tpp: 100 operations/s"
    assert made.cards[0].figure is None
    assert any("nothing to win" in remark for remark in made.cards[0].remarks)


@pytest.mark.usefixtures("undrawn")
def test_one_run_of_an_own_program_is_shown_by_its_time() -> None:
    alone = run("tpp", 0.5, workload="prog", operations=1, seconds=2.0, latency_ns=None)
    made = page.page(document(alone))
    assert made.headline == "prog under tpp: 2.00 s"
    assert any("unknown" in remark for remark in made.cards[0].remarks)
    assert made.cards[0].parts_title == "Where the 2.00 s under tpp went"
    (block,) = section(made, "repeat").blocks
    assert block.code == (
        "./kloc run --policy tpp --machine tiered --seed 1 [its other options] "
        "-- prog [its arguments]"
    )


@pytest.mark.usefixtures("undrawn")
def test_the_commands_repeat_the_runs() -> None:
    varied = {"machine": {"name": "tiered", "variant": "fast x 1/2, slow bandwidth 1/4"}}
    seeds = [{**each, "seed": seed} for seed in (1, 2) for each in compared()]
    made = page.page(document(*seeds, run("tpp", 1, seed=7, **varied)))
    (block,) = section(made, "repeat").blocks
    assert block.code.splitlines() == [
        "./kloc compare redis --policies all-slow,naive,tpp,oracle,all-fast "
        "--machine tiered --seeds 2",
        "./kloc run redis --policy tpp --machine tiered --fast 1/2 --slow-bandwidth 1/4 --seed 7",
    ]


@pytest.mark.usefixtures("undrawn")
def test_the_command_repeats_what_if() -> None:
    kinds = {"placement": {"fast": ["anon", "shmem"]}}
    rows = [*compared(), run("application", 1, **kinds)]
    (block,) = section(page.page(document(*rows)), "repeat").blocks
    assert block.code == "./kloc what-if redis --machine tiered --seed 1"


@pytest.mark.usefixtures("undrawn")
def test_the_command_repeats_what_was_observed() -> None:
    (block,) = section(object_page.page(objects()), "repeat").blocks
    assert block.code == "./kloc objects redis --machine tiered --fast 2 --seed 3"


@pytest.mark.usefixtures("undrawn")
def test_variants_of_the_machine_are_cases_of_their_own() -> None:
    machine = run("tpp", 1)["machine"]
    double = [
        {**each, "machine": {**machine, "variant": "fast x 2"}, "throughput": 150}
        for each in compared()
        if each["policy"] == "tpp"
    ]
    slow = [
        {**each, "machine": {**machine, "variant": "fast x 2"}}
        for each in compared()
        if each["policy"] == "all-slow"
    ]
    made = page.page(document(*compared(), *double, *slow))
    assert [card.name for card in made.cards] == ["redis", "redis, fast x 2"]
    (figures,) = [
        block.figures
        for block in section(made, "throughput").blocks
        if block.title == "Over the variants of the machine"
    ]
    table = figures[0].table
    assert table is not None
    assert list(table.head) == ["policy, x all-slow", "as it is", "fast x 2"]
    assert ["tpp", "1.60", "1.50"] in [list(row) for row in table.rows]


def test_time_is_split_into_parts_that_add_up() -> None:
    (case,) = cases([run("tpp", 100)])
    times = case.times("tpp")
    assert times is not None
    assert times.compute == pytest.approx(5.0)
    assert times.stall["slow"] == {APPLICATION: pytest.approx(2.0), SLAB: pytest.approx(1.0)}
    assert (times.storage, times.idle) == (pytest.approx(0.6), pytest.approx(0.4))
    parts = plots.parts(times)
    assert sum(seconds for _, _, seconds in parts) == pytest.approx(times.seconds)
    assert (STORAGE, "", pytest.approx(0.6)) in parts


@pytest.mark.usefixtures("undrawn")
def test_the_table_of_times_names_slab_caches() -> None:
    (figure,) = [plots.time(case) for case in cases([run("tpp", 100)])]
    assert figure is not None
    assert figure.table is not None
    assert ["of slab, all tiers: dentry", "1,000.00"] in figure.table.rows


@pytest.mark.usefixtures("undrawn")
def test_background_threads_that_did_little_are_left_out() -> None:
    made = page.page(document(run("tpp", 1000)))
    (block,) = section(made, "background").blocks
    assert [row[:4] for row in block.tables[0].rows] == [["tpp", "kswapd0", "50 ms", "5.0 %"]]


def test_migrations_without_reasons_are_shown_by_direction() -> None:
    rates = plots.moved(run("tpp", 100))
    width = 15 / plots.BINS
    assert sum(rates["promoted"]["all"]) * width == pytest.approx(60)
    assert sum(rates["demoted"]["all"]) * width == pytest.approx(30)
    assert rates["demoted"]["all"][0] == 0


@pytest.mark.usefixtures("undrawn")
def test_migrations_have_their_reasons() -> None:
    moved = run("tpp", 100)
    moved["series"]["moved"] = {
        "promoted": {"hint_fault": [0, 40, 60]},
        "demoted": {"demotion": [0, 0, 20], "compaction": [0, 0, 10], "other": [0, 0, 0]},
    }
    rates = plots.moved(moved)
    assert {way: list(reasons) for way, reasons in rates.items()} == {
        "promoted": ["hint_fault"],
        "demoted": ["demotion", "compaction"],
    }
    legend = [group.label for group in section(page.page(document(moved)), "migrations").legend]
    assert legend == ["hint fault", "reclaim", "compaction"]


@pytest.mark.usefixtures("undrawn")
def test_pages_are_grouped_and_free_ones_left_out() -> None:
    (case,) = cases([run("tpp", 100)])
    figure = plots.pages(case, case.runs[0], 2.0)
    assert figure is not None
    assert figure.table is not None
    assert list(figure.table.head) == ["ms", "fast: application, MiB", "slow: slab, MiB"]
    assert [list(row) for row in figure.table.rows] == [
        ["5.0", "1.0", "1.0"],
        ["10.0", "2.0", "2.0"],
        ["15.0", "2.0", "1.0"],
    ]


def test_a_long_series_is_thinned_and_keeps_its_ends() -> None:
    kept = plots.thinned(10_000)
    assert (kept[0], kept[-1], len(kept)) == (0, 9_999, plots.POINTS_MAX)
    assert plots.thinned(3) == [0, 1, 2]


def test_a_bound_without_others_and_empty_series_are_shown() -> None:
    empty = run("all-slow", 100, series={"t_ns": [], "pages_fast": {}, "pages_slow": {}})
    made = page.page(document(empty))
    assert made.headline == "redis under all-slow: 100 operations/s"
    assert {"pages", "versions"} & {each.id for each in made.sections} == {"versions"}
    Html(report.render(document(empty)))


@pytest.mark.usefixtures("undrawn")
def test_the_oracle_alone_is_shown() -> None:
    assert "redis under oracle: 180 operations/s" in report.render(document(oracle(180)))


@pytest.mark.usefixtures("undrawn")
def test_a_document_of_an_older_kloc_is_shown() -> None:
    old = run("tpp", 100)
    for key in ("series", "background", "notes", "hint_faults", "migrated_pages", "settings"):
        del old[key]
    bare = {"schema": 1, "runs": [old]}
    assert Html(report.render(bare)).texts["h1"] == ["redis under tpp: 100 operations/s"]


@pytest.mark.usefixtures("undrawn")
def test_notes_that_differ_in_a_number_are_one() -> None:
    runs = [
        run("tpp", 100, seed=seed, notes=[f"{count} pages were evicted to storage"])
        for seed, count in ((1, 9), (2, 1200))
    ]
    made = page.page(document(*runs))
    assert made.notes == ["tpp on redis: 9 to 1,200 pages were evicted to storage"]


def test_the_order_of_policies_is_that_of_a_comparison() -> None:
    names = ["mine", "all-fast", "tpp", "all-slow"]
    (case,) = cases([run(name, 100) for name in names])
    assert case.policies == ["all-slow", "tpp", "all-fast", "mine"]


EVIL = "<script>alert('$x$')</script>\x07\ud800&\"quoted\""


@pytest.mark.parametrize("where", ["workload", "policy", "variant", "thread", "kind", "note"])
def test_names_are_escaped(where: str) -> None:
    bad = run("tpp", 100)
    if where in ("workload", "policy"):
        bad[where] = EVIL
    bad["machine"]["variant"] = EVIL if where == "variant" else ""
    if where == "thread":
        bad["background"][EVIL] = bad["background"]["kswapd0"]
    if where == "kind":
        bad["stall_ns"]["slow"]["slab:" + EVIL] = 5
    if where == "note":
        bad["notes"] = [EVIL]
    beside = [{**bad, "policy": name} for name in ("all-slow", "all-fast")]
    parsed = Html(report.render(document(bad, *(beside if where == "policy" else []))))
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert any("<script>alert('$x$')" in text for text in parsed.texts["body"])


DOCUMENTS = {"runs": document(*compared()), "objects": objects()}


@pytest.fixture(scope="module", params=DOCUMENTS)
def text(request: pytest.FixtureRequest) -> str:
    return report.render(DOCUMENTS[request.param])


def test_it_is_the_same_each_time() -> None:
    for made in DOCUMENTS.values():
        assert report.render(made) == report.render(copy.deepcopy(made))


def test_it_needs_nothing_else(text: str) -> None:
    assert "http" not in text
    assert "@import" not in text
    parsed = Html(text)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in parsed.tags}
    assert all(link.startswith("#") for link in parsed.attributes("href"))
    assert not parsed.attributes("src")
    assert not re.findall(r"url\((?!#)", text)


def test_what_is_referred_to_is_there_once(text: str) -> None:
    parsed = Html(text)
    ids = parsed.attributes("id")
    assert len(ids) == len(set(ids))
    links = {link.removeprefix("#") for link in parsed.attributes("href")}
    links |= set(parsed.attributes("aria-labelledby"))
    links |= set(re.findall(r"url\(#([^)]+)\)", text))
    assert links <= set(ids)


def test_its_colours_follow_light_and_dark(text: str) -> None:
    light, dark = text.split("@media screen and (prefers-color-scheme: dark)")
    body = dark[dark.index("<body>") :]
    used = set(re.findall(r"var\(--(\w+)\)", body))
    assert used
    for name in used:
        assert f"  --{name}: #" in light
        assert f"    --{name}: #" in dark
    assert not [colour for colour in COLOURS.values() if colour in body]
    assert not re.findall(r"(?:fill|stroke): ?#", body)


def test_each_figure_says_what_it_is(text: str) -> None:
    parsed = Html(text)
    figures = [found for tag, found in parsed.tags if tag == "svg"]
    assert figures
    assert all(found["role"] == "img" for found in figures)
    titles = parsed.texts["title"][1:]
    assert len(titles) == len(figures)
    assert all("redis" in title for title in titles)


@pytest.mark.usefixtures("undrawn")
def test_objects_are_told_apart_from_the_application() -> None:
    text = report.render(objects())
    parsed = Html(text)
    assert parsed.texts["h1"] == ["redis: 75 % of the pages it allocates are the kernel's"]
    assert "At the median a page lives: application 2 s and slab (dentry) 36 ms." in text
    assert "750 (75.00 %)" in parsed.texts["td"]
    assert "How long a page lives: from allocation to free" in parsed.texts["figcaption"]
    assert not any("How often" in caption for caption in parsed.texts["figcaption"])


@pytest.mark.usefixtures("undrawn")
def test_an_unknown_kind_of_page_is_the_kernel_s() -> None:
    made = objects()
    made["inputs"]["large"]["new"] = made["inputs"]["large"].pop("file")
    assert "75 % of the pages" in report.render(made)
    assert OTHER.label in report.render(made)


@pytest.mark.usefixtures("undrawn")
def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report.write(path, document(*compared()))
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(KlocError, match="cannot be written"):
        report.write(tmp_path / "none" / "report.html", document(*compared()))
