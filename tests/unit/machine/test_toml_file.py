# SPDX-License-Identifier: GPL-2.0
"""TOML files: errors name the file, the key, the expected type and the nearest known key."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kloc.base.errors import KlocError
from kloc.machine import toml_file

PATH = Path("a.toml")


class Part(msgspec.Struct, forbid_unknown_fields=True):
    size: int
    speed: float


class Content(msgspec.Struct, forbid_unknown_fields=True):
    part: Part
    names: list[str] = msgspec.field(name="for", default_factory=list)
    value: int | float | str | None = None


def refused(content: object, key: str = "") -> KlocError:
    """Return the error for a file with this content."""
    with pytest.raises(KlocError) as error:
        toml_file.convert(content, Content, PATH, "the hint", key)
    return error.value


def test_a_correct_file_is_converted() -> None:
    content = {"part": {"size": 1, "speed": 2}, "for": ["a"]}
    converted = toml_file.convert(content, Content, PATH, "")
    assert converted == Content(Part(1, 2.0), ["a"])
    assert type(converted.part.speed) is float


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"part": {"size": 1.5, "speed": 2}}, "part.size is 1.5, and must be a whole number"),
        ({"part": {"size": 1, "speed": "x"}}, "part.speed is 'x', and must be a number"),
        ({"part": 5}, "part is 5, and must be a table"),
        ({"part": {"size": 1, "speed": 1}, "for": "a"}, "for is 'a', and must be a list"),
        ({"part": {"size": 1, "speed": 1}, "for": ["a", 2]}, "for[1] is 2, and must be a string"),
        (
            {"part": {"size": 1, "speed": 1}, "value": True},
            "value is True, and must be a number or a string",
        ),
    ],
)
def test_a_wrong_type_is_named_with_its_key(content: object, message: str) -> None:
    assert refused(content).message == f"a.toml: {message}"
    assert refused(content).hint == "the hint"


def test_an_unknown_key_is_answered_with_the_nearest_one() -> None:
    error = refused({"part": {"size": 1, "sped": 2}})
    assert "'part.sped'" in error.message and "'part.speed'" in error.message
    assert error.hint is not None and "part.size, part.speed" in error.hint
    assert "'part'" in refused({"prt": {}}).message


def test_all_missing_keys_of_a_table_are_named() -> None:
    assert refused({"part": {}}).message == "a.toml: part.size, part.speed are missing"
    assert refused({"part": {"size": 1}}).message == "a.toml: part.speed is missing"
    assert refused({}).message == "a.toml: part is missing"


def test_the_key_of_a_part_is_in_the_error() -> None:
    assert "above.part.size" in refused({"part": {"size": "x"}}, "above").message
    assert "'above.prt'" in refused({"prt": 1}, "above").message


@pytest.mark.parametrize("content", [b"a =", b"\xff"])
def test_a_file_that_is_not_toml_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(KlocError) as error:
        toml_file.read(path, "the hint")
    assert str(path) in error.value.message
    assert error.value.hint == "the hint"
