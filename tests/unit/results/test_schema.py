# SPDX-License-Identifier: GPL-2.0
"""The structure of result files: what is accepted, and which value an error names."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.results import schema
from support import made_up, made_up_raw

PATH = Path("x.json")

Document = dict[str, Any]
Change = Callable[[Document], object]


def runs() -> Document:
    return made_up.document(*made_up.comparison())


def check_refused(document: Any, *words: str) -> None:
    """Check that the document is refused with an error that has the file's name and `words`."""
    with pytest.raises(KlocError) as error:
        schema.validate(PATH, document)
    for word in (str(PATH), *words):
        assert word in error.value.message


def test_documents_of_runs_and_of_objects_are_accepted() -> None:
    schema.validate(PATH, runs())
    schema.validate(PATH, made_up.object_document())


def test_the_result_of_a_run_is_accepted() -> None:
    schema.validate(PATH, json.loads(json.dumps(made_up.document(made_up_raw.run()))))


@pytest.mark.parametrize("name", profile.names())
def test_the_profiles_of_all_machines_are_accepted(name: str) -> None:
    document = {**runs(), "machine": profile.load(name).as_dict()}
    schema.validate(PATH, json.loads(json.dumps(document)))


@pytest.mark.parametrize("key", ["cores", "seed", "seconds", "throughput", "operations"])
@pytest.mark.parametrize("value", [1, 1.0, 1.5])
def test_numbers_may_be_integers_or_floats(key: str, value: float) -> None:
    schema.validate(PATH, made_up.document({**made_up.run("tpp", 1), key: value}))


def test_keys_that_an_older_kloc_does_not_write_may_be_missing() -> None:
    run = made_up.run("tpp", 1)
    for key in ("size", "series", "background", "stall_ns", "migrated_pages", "settings"):
        run.pop(key, None)
    schema.validate(PATH, made_up.document(run))


def test_unknown_keys_are_accepted() -> None:
    run = made_up.run("tpp", 1, later={"a": [1, None]})
    schema.validate(PATH, {**made_up.document(run), "later": True})


@pytest.mark.parametrize(
    ("change", "where", "problem"),
    [
        (lambda doc: doc["runs"][3].update(throughput="9"), "runs[3].throughput", "a number"),
        (lambda doc: doc["runs"][0].update(seconds=True), "runs[0].seconds", "a number"),
        (lambda doc: doc["runs"][3].update(throughput=-1), "runs[3].throughput", "0 or more"),
        (lambda doc: doc["runs"][3].update(operations=math.inf), "runs[3].operations", "0 or more"),
        (lambda doc: doc["runs"][2].update(seconds=0), "runs[2].seconds", "above 0"),
        (lambda doc: doc["runs"][2].update(cores=math.nan), "runs[2].cores", "above 0"),
        (lambda doc: doc["runs"][0].update(cores="4"), "runs[0].cores", "a number"),
        (lambda doc: doc["runs"][1].update(notes="odd"), "runs[1].notes", "a list"),
        (lambda doc: doc["runs"][1].pop("policy"), "runs[1].policy", "missing"),
        (lambda doc: doc["runs"][0].update(spread="8 %"), "runs[0].spread", "a number"),
        (lambda doc: doc.update(against={"baseline": 1}), "against.baseline", "a string"),
        (lambda doc: doc.update(against={}), "against.baseline", "missing"),
        (lambda doc: doc["runs"][0]["machine"].update(name=1), "runs[0].machine.name", "a string"),
        (lambda doc: doc["runs"][0]["series"].update(t_ns={}), "runs[0].series.t_ns", "a list"),
        (lambda doc: doc["runs"].insert(2, []), "runs[2]", "an object"),
        (lambda doc: doc.update(runs={"a": 1}), "runs", "a list"),
        (lambda doc: doc.update(runs=[]), "runs", "at least one"),
        (lambda doc: doc.pop("runs"), "runs", "missing"),
        (lambda doc: doc.pop("kernel"), "kernel", "missing"),
        (lambda doc: doc["machine"]["fast"].update(capacity="1"), "machine.fast.capacity", "a num"),
    ],
)
def test_an_error_names_the_value_and_what_is_expected(
    change: Change, where: str, problem: str
) -> None:
    document = runs()
    change(document)
    check_refused(document, f": {where}: ", problem)


def test_an_error_in_a_mapping_names_the_mapping() -> None:
    document = runs()
    document["runs"][0]["stall_ns"]["slow"]["anon"] = "many"
    check_refused(document, "runs[0].stall_ns.*", "a number")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda doc: doc.pop("workload"), "workload"),
        (lambda doc: doc.update(inputs={}), "inputs"),
        (lambda doc: doc.update(inputs={"small": 3}), "inputs.*"),
        (lambda doc: doc["inputs"]["small"]["anon"].update(misses="1"), "inputs.*.*.misses"),
    ],
)
def test_documents_of_objects_are_checked_too(change: Change, where: str) -> None:
    document = made_up.object_document()
    change(document)
    check_refused(document, f": {where}: ")


@pytest.mark.parametrize(("number", "shown"), [("2", '"2"'), (None, "null"), ([2], "[2]")])
def test_schema_that_is_no_number_is_refused_as_such(number: Any, shown: str) -> None:
    check_refused({**runs(), "schema": number}, f"schema: expected a number, and it is {shown}")


@pytest.mark.parametrize("content", [None, [1], "text", {}, {"runs": []}])
def test_content_without_a_schema_number_is_refused(content: Any) -> None:
    check_refused(content, "schema")


def test_another_schema_is_refused_before_its_structure_is_checked() -> None:
    check_refused({"schema": 1}, "schema 1", f"schema {schema.SCHEMA}")


def test_results_of_bench_are_named_in_the_error() -> None:
    check_refused({"schema": 2, "kernels": []}, "kloc bench")
