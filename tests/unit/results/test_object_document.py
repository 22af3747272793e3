# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc objects`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kloc.measure.workload import FULL, QUICK
from kloc.results import object_document, schema
from support.made_up import OBJECTS, counts

RUN = {
    "policy": "naive",
    "kloc": "0123456789ab",
    "seed": 1,
    "machine": {"variant": "fast x 2"},
    "operations": 10,
    "seconds": 0.5,
    "instructions": {"user": 1, "kernel": 2},
    "objects": OBJECTS,
}
BASE = {"kernel": {"release": "6.12"}, "versions": {"qemu": "10"}, "machine": {"name": "m"}}


def document() -> dict[str, Any]:
    runs = {"small": RUN, "large": RUN}
    return object_document.assemble(BASE, "redis", runs, {"small": QUICK, "large": FULL})


def test_document_names_the_run_and_what_its_figures_depend_on() -> None:
    result = document()
    assert (result["schema"], result["workload"], result["policy"]) == (2, "redis", "naive")
    assert (result["seed"], result["variant"]) == (1, "fast x 2")
    assert {key: result[key] for key in BASE} == BASE
    assert result["kloc"] == "0123456789ab"
    assert result["measured"]["small"]["load"] == QUICK.load
    assert result["measured"]["large"]["pages_allocated"] == 1010
    assert list(result["inputs"]) == ["small", "large"]


def test_document_matches_the_schema_after_it_was_written() -> None:
    schema.validate(Path("x.json"), json.loads(json.dumps(document())))


def test_shares_of_all_kinds_add_up_to_one() -> None:
    for kinds in document()["inputs"].values():
        for measure in ("references", "misses"):
            assert sum(kind[measure] for kind in kinds.values()) == pytest.approx(1, abs=1e-6)
        assert kinds["anon"]["references"] == pytest.approx(0.7, abs=0.01)
        assert sum(kind["pages_allocated"] for kind in kinds.values()) == 1010


def test_shares_are_zero_without_references() -> None:
    run = {**RUN, "objects": {"anon": counts(0, 0, 0)}}
    result = object_document.assemble(BASE, "redis", {"small": run}, {"small": QUICK})
    assert result["inputs"]["small"]["anon"]["references"] == 0


def test_percentiles_are_null_if_nothing_was_counted() -> None:
    kinds = document()["inputs"]["large"]
    assert kinds["file"]["lifetime_ns"] == {"p50": None, "p90": None, "p99": None}
    assert kinds["anon"]["lifetime_ns"]["p50"] == pytest.approx(1000 + 100 * 50 / 90)
    assert kinds["anon"]["lifetime_ns"]["p99"] == pytest.approx(2000 + 200 * 9 / 10)
    assert kinds["file"]["interval_ns"]["p90"] == pytest.approx(4.9)
