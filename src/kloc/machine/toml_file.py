# SPDX-License-Identifier: GPL-2.0
"""Reads TOML files into msgspec types. Errors name the file, the key and the expected type."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args

import msgspec

from kloc.base import words
from kloc.base.errors import KlocError, unknown

T = TypeVar("T")

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `.*`")


def read(path: Path, hint: str) -> dict[str, Any]:
    """Return the content of the file `path`. Raises KlocError, with `hint`, if it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KlocError(f"{path} is not TOML: {error}", hint) from error


def convert(value: object, expected: type[T], path: Path, hint: str, key: str = "") -> T:
    """Return `value`, the part of the file `path` with this `key`, as the type `expected`.

    The empty key is the complete file. Raises KlocError, with `hint`, for a value of another type,
    a missing key, or a key that a Struct with forbid_unknown_fields does not have.
    """
    try:
        return msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        problem, where = words.validation_problem(str(error))
        prefix = ".".join(filter(None, (key, where)))
        for part in filter(None, where.split(".")):
            value, expected = _descend(value, expected, part)
        raise _explained(problem, path, prefix, value, expected, hint) from error


def _descend(value: Any, expected: Any, part: str) -> tuple[Any, Any]:
    """Return the value and the type of the field `part`, such as `fast` or `expect[0]`."""
    name, _, index = part.rstrip("]").partition("[")
    kind = next(field.type for field in msgspec.structs.fields(expected) if _key(field) == name)
    # A table that the file need not have: its type is the Struct or None.
    given = [one for one in get_args(kind) if one is not NoneType]
    if len(given) == 1 and isinstance(given[0], type) and issubclass(given[0], msgspec.Struct):
        kind = given[0]
    return (value[name][int(index)] if index else value[name]), kind


def _explained(
    problem: str, path: Path, key: str, value: Any, expected: Any, hint: str
) -> KlocError:
    """Return the error for msgspec's `problem` with `value`, which the file has at `key`."""
    prefix = f"{key}." if key else ""
    if found := _UNKNOWN.fullmatch(problem):
        keys = [prefix + _key(field) for field in msgspec.structs.fields(expected)]
        error = unknown("key", prefix + found[1], keys)
        return KlocError(f"{path}: {error.message}", error.hint)
    if _MISSING.fullmatch(problem) and isinstance(value, Mapping):
        required = (_key(field) for field in msgspec.structs.fields(expected) if field.required)
        missing = [prefix + name for name in required if name not in value]
        verb = "is" if len(missing) == 1 else "are"
        return KlocError(f"{path}: {', '.join(missing)} {verb} missing", hint)
    # TOML has no null.
    expected_types = words.expected_types(problem.replace(" | null", ""), {"object": "a table"})
    if expected_types:
        problem = f"must be {expected_types}"
    return KlocError(f"{path}: {key} is {value!r}, and {problem}", hint)


def _key(field: msgspec.structs.FieldInfo) -> str:
    """Return the key in the file of a Struct's field."""
    return field.encode_name
