# SPDX-License-Identifier: GPL-2.0
"""The document of `kloc bench machine`."""

from __future__ import annotations

import json

import pytest

from kloc.base import revision
from kloc.measure.machine_bench import answers
from kloc.results import machine_bench_document, schema
from support.made_up_answers import machine, measured


def test_the_document_has_profile_versions_and_all_answers() -> None:
    host = machine("cxl")
    machines = [measured(host, answers.GROUPS, slow_idle=1.1), measured(machine(), answers.GROUPS)]
    document = json.loads(json.dumps(machine_bench_document.assemble(machines)))
    assert document["schema"] == schema.SCHEMA
    assert document["kloc"] == revision.commit()
    assert document["kernel"] == {"release": "6.12", "series": "abc"}
    assert document["versions"] == {"qemu": "1", "plugin": "123", "programs": {"known_tlb": "456"}}
    first, second = document["machines"]
    assert first["machine"] == json.loads(json.dumps(host.as_dict()))
    assert second["machine"]["name"] == "made-up"
    idle = first["answers"]["slow.idle"]
    assert idle["deviation"] == pytest.approx(0.1) and idle["expected"] == 200
    assert {
        "value": 107,
        "source": "Mess, a CXL expander: 107 ns idle, 149 at 40 GB/s, of 42.8",
    } in idle["published"]
    assert first["answers"]["cores.pipe"]["expected"] is None
