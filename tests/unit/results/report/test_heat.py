# SPDX-License-Identifier: GPL-2.0
"""The section with heat maps."""

from __future__ import annotations

from kloc.heat.records import Mark
from kloc.results import report
from kloc.results.report import heat
from support import made_up, made_up_heat


def test_there_is_no_section_without_maps() -> None:
    assert heat.section([]) is None
    assert 'id="heat"' not in report.render(made_up.document(made_up.run("tpp", 100)))


def test_each_map_has_a_figure_with_its_numbers() -> None:
    section = heat.section([made_up_heat.record(), made_up_heat.physical()])
    assert section is not None
    process, physical = section.blocks[0].figures
    assert process.caption == "process 12 (made-up)"
    assert process.table is not None and physical.table is not None
    # The upper half of the stack in half of the samples; of the heap, each MiB for a second.
    assert [row[1:] for row in process.table.rows] == [["25 %", "50 %"], ["12 %", "0 %"]]
    assert [row[1:] for row in physical.table.rows] == [["0 %", "100 %"], ["100 %", "0 %"]]
    assert physical.table.rows[0][0].startswith("node 1, slow")


def test_a_map_with_kinds_of_pages_names_them() -> None:
    section = heat.section([made_up_heat.with_kinds()])
    assert section is not None
    assert "kind of most pages" in section.intro and "logarithmic" in section.intro
    (figure,) = section.blocks[0].figures
    assert figure.table is not None and figure.table.head[-1] == "pages"
    assert [row[-1] for row in figure.table.rows] == [
        "free 51 %, slab 49 %",
        "anonymous 50 %, file 46 %, shared 2 %, page tables 1 %, other 0 %",
    ]
    assert ">page tables<" in figure.svg
    assert "s; black: none; violet 3.7 %, yellow 100 % of samples" in figure.svg
    # The maps of two parts, and their strips.
    assert figure.svg.count("data:image/png;base64,") == 4
    plain = heat.section([made_up_heat.physical()])
    assert plain is not None and "kind of most pages" not in plain.intro


def test_the_picture_is_in_the_page_itself() -> None:
    record = made_up_heat.record(marks=(Mark(4.0, "measured"),))
    document = {**made_up.document(made_up.run("tpp", 100)), "heatmaps": [record]}
    html = report.render(document)
    assert html.count("data:image/png;base64,") == 2
    assert "measured" in html and "Access frequencies" in html
    assert report.render(document) == html
