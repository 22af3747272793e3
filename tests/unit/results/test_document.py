# SPDX-License-Identifier: GPL-2.0
"""Result documents: reading files, comparing and joining documents."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import files
from kloc.base.errors import KlocError
from kloc.build import pins
from kloc.build.kernel import Kernel
from kloc.measure import workload
from kloc.results import document
from support.made_up import comparison, object_document, run
from support.made_up import document as document_of


def changed(result: dict[str, Any], *path: str, value: Any) -> dict[str, Any]:
    """Return a copy of a document with another value at `path`."""
    result = copy.deepcopy(result)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def on_variant(result: dict[str, Any], variant: str) -> dict[str, Any]:
    return {**result, "machine": {**result["machine"], "variant": variant}}


def parts(programs: list[str], packages: dict[str, str]) -> Any:
    """Return the parts of a machine; programs are paths."""
    return SimpleNamespace(
        kernel=Kernel(Path("bzImage"), Path("vmlinux"), Path("config"), "6.12.1", "abc"),
        root=SimpleNamespace(
            versions=lambda: {"qemu": "Debian's", "gcc": "14"}, packages=lambda: {"gcc-14": "14"}
        ),
        qemu=SimpleNamespace(version="10"),
        plugin=Path("/cache/plugin/p1/model.so"),
        programs=[Path(path) for path in programs],
        image=SimpleNamespace(versions=packages),
    )


def test_a_document_has_the_versions_of_all_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "read", lambda: {"gcc-14": "13", "libc6": "2.41"})
    machines = [
        parts(["/cache/program/h1/one"], {"libc6": "2.41"}),
        parts(["/cache/program/h2/two"], {"redis": "8"}),
    ]
    result = document.assemble(machines, {"name": "tiered"}, [run("tpp", 1)])
    assert list(result) == ["schema", "kernel", "versions", "machine", "runs"]
    assert result["kernel"] == {"release": "6.12.1", "series": "abc"}
    assert result["versions"] == {
        "qemu": "10",
        "gcc": "14",
        "plugin": "p1",
        "programs": {"one": "h1", "two": "h2"},
        "guest": {"libc6": "2.41", "redis": "8"},
        "not_pinned": {"gcc-14": {"pinned": "13", "used": "14"}},
    }
    assert (result["machine"], result["runs"]) == ({"name": "tiered"}, [run("tpp", 1)])


def test_a_document_that_was_written_is_read_with_all_keys(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    written = {**document_of(run("tpp", 0.1, later=[1, 2.0, None])), "later": {"a": 1}}
    files.write_json(path, written)
    text = path.read_text()
    files.write_json(path, document.read(path))
    assert path.read_text() == text


def test_a_document_of_objects_is_read(tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    files.write_json(path, object_document())
    assert document.read(path) == object_document()
    assert document.is_object_document(document.read(path))
    assert not document.is_object_document(document_of(run("tpp", 1)))


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"{}", b"[1]"])
def test_a_file_that_is_no_result_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(KlocError, match=r"other\.json is not a result file"):
        document.read(path)


def test_a_file_that_does_not_match_is_refused_by_name_and_value(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document_of({**run("tpp", 1), "seconds": "1"})))
    with pytest.raises(KlocError, match=r"bad\.json: runs\[0\]\.seconds: "):
        document.read(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match=r"none\.json: No such file"):
        document.read(tmp_path / "none.json")


def test_equal_documents_do_not_differ() -> None:
    assert document.differences(document_of(run("tpp", 1)), document_of(run("stock", 2))) == []


def test_differences_name_keys_and_both_values() -> None:
    one = document_of(run("tpp", 1))
    other = changed(one, "versions", "guest", "libc6", value="9.9")
    other = changed(other, "kernel", "series", value="b")
    del other["versions"]["qemu"]
    lines = document.differences(one, other)
    assert [line.split(":")[0] for line in lines] == [
        "kernel.series",
        "versions.guest.libc6",
        "versions.qemu",
    ]
    assert "2.41" in lines[1] and "9.9" in lines[1]
    assert "missing" in lines[2]


def test_documents_of_different_variants_and_sizes_differ() -> None:
    one = run("tpp", 1)
    (line,) = document.differences(document_of(one), document_of(on_variant(one, "fast x 2")))
    assert document.UNCHANGED in line and "fast x 2" in line
    quick = run("tpp", 1, size=asdict(workload.QUICK))
    (line,) = document.differences(document_of(one), document_of(quick))
    assert document.FULL_SIZE in line and "quick" in line
    (line,) = document.differences(document_of(one), document_of(run("tpp", 1, cold=True)))
    assert line == "warm-up: before the region vs. none"


def test_documents_with_different_runs_are_joined_without_losing_keys() -> None:
    one = {**document_of(run("tpp", 1, later=1)), "later": 2}
    other = document_of(run("stock", 2), run("tpp", 3, seed=2))
    joined = document.join([one, other])
    assert joined == {**one, "runs": [*one["runs"], *other["runs"]]}


def test_documents_that_share_a_run_are_not_joined() -> None:
    assert document.join([document_of(*comparison()), document_of(run("tpp", 1))]) is None


def test_documents_that_differ_are_not_joined() -> None:
    one = document_of(run("tpp", 1))
    other = changed(document_of(run("stock", 1)), "kernel", "series", value="b")
    assert document.join([one, other]) is None


def test_a_single_document_is_not_joined() -> None:
    assert document.join([document_of(run("tpp", 1))]) is None


@pytest.mark.parametrize(
    ("size", "option"),
    [(workload.FULL, ""), (workload.QUICK, "quick"), (workload.LONG, "long")],
)
def test_the_size_of_a_run_is_named_after_its_option(size: workload.Size, option: str) -> None:
    assert document.size_option(run("tpp", 1, size=asdict(size))) == option


def test_a_run_of_an_older_kloc_has_the_full_size() -> None:
    assert document.size_option(run("tpp", 1)) == ""


def test_documents_of_other_workloads_do_not_contradict_each_other() -> None:
    one = document_of(run("tpp", 1))
    more = changed(one, "versions", "guest", "redis", value="8")
    assert document.contradictions(one, more) == document.contradictions(more, one) == []
    other = changed(more, "versions", "guest", "libc6", value="9.9")
    other = changed(other, "machine", "cores", value=1)
    assert document.contradictions(one, other) == [
        "versions.guest.libc6: 2.41 vs. 9.9",
        "machine.cores: 4 vs. 1",
    ]


def test_a_document_takes_over_what_only_guests_of_another_have() -> None:
    def versions(**guest: str) -> dict[str, Any]:
        parts = {"programs": {}, "guest": guest, "not_pinned": {}}
        return {**document_of(), "versions": {"qemu": "10", **parts}}

    joined = document.with_guests_of(versions(b="1", a="2"), versions(c="3", a="2"))
    assert list(joined["versions"]["guest"].items()) == [("b", "1"), ("a", "2"), ("c", "3")]
    assert list(joined["versions"]) == ["qemu", "programs", "guest", "not_pinned"]


@pytest.mark.parametrize("constant", ["NaN", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused(constant: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    text = json.dumps(document_of(run("tpp", 12345.0)))
    assert "12345.0" in text
    path.write_text(text.replace("12345.0", constant))
    with pytest.raises(KlocError, match="not JSON"):
        document.read(path)
