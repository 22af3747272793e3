# SPDX-License-Identifier: GPL-2.0
"""The table and the document of `kloc bench speed`."""

from __future__ import annotations

import json

from kloc.base import revision
from kloc.measure.speed import MODELLED, UNMODELLED, Phase, Speed
from kloc.results import schema, speed_document, speed_table
from support.made_up_answers import PARTS

SPEED = Speed(
    "A CPU",
    PARTS,
    {UNMODELLED: Phase(1_900_000_000, 10.0), MODELLED: Phase(870_000_000, 12.0)},
)


def test_the_table_has_a_row_for_each_phase() -> None:
    table = speed_table.table(SPEED)
    rows = [list(map(str, row)) for row in zip(*(c.cells for c in table.columns), strict=True)]
    assert rows == [["unmodelled", "1,900", "10.0", "190.0"], ["modelled", "870", "12.0", "72.5"]]
    assert "A CPU" in str(table.title)


def test_the_document_has_versions_and_phases() -> None:
    document = json.loads(json.dumps(speed_document.assemble(SPEED)))
    assert document["schema"] == schema.SCHEMA
    assert document["kloc"] == revision.commit()
    assert document["versions"] == {"qemu": "1", "plugin": "123"}
    assert document["cpu"] == "A CPU"
    assert document["phases"]["modelled"] == {
        "instructions": 870_000_000,
        "cpu_seconds": 12.0,
        "instructions_per_cpu_second": 72_500_000,
    }
