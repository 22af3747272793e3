# SPDX-License-Identifier: GPL-2.0
"""Reads and checks kloc.toml, which says what `kloc on` sets; packaging/kloc.toml explains it.

Errors name the file, the line, the key and the values that are allowed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.base.errors import HINTS, KlocError, closest
from kloc.server import contexts, policy_files, setting_files, tiering

DEFAULT = Path("/etc/kloc/kloc.toml")

DEFAULT_POLICY = "kloc"

NO_LIMIT = contexts.NO_LIMIT

KINDS = ("file", "blockdev", "slab")
"""The kinds of memory that contexts may cover."""

SCOPES = (contexts.ALL, contexts.CHOSEN)

SETTING = re.compile(r"/(proc/sys|sys)(/(?!\.\.?(/|$))[^/]+)+|[a-z_]+|[a-z-]+/[a-z_]+")
"""A file, or the name of a file in /sys/kernel/mm/tiering."""

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

LEAST_LIMIT = 4096
"""The smallest limit in bytes besides 0, a page: a smaller one lacks its unit."""

A_CGROUP = 'a cgroup such as "/database.slice"'

A_LIMIT = 'write a size such as "4G" or "512 MiB", or "max" for no limit'

Key = tuple[str, ...]
"""The names of the tables that a key is in, and its own."""


@dataclass(frozen=True)
class Config:
    """What kloc.toml says. Limits are in bytes, None for no limit; `file` is None without a file.

    `scope` and `kinds` are None where the kernel's values stay. `settings` are by absolute path.
    """

    policy: str = DEFAULT_POLICY
    scope: str | None = None
    kinds: tuple[str, ...] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    node_limits: Mapping[int, int | None] = field(default_factory=dict)
    cgroup_limits: Mapping[str, int | None] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    file: Path | None = None


def read(path: Path | None = None) -> Config:
    """Return the content of the file `path`, or of DEFAULT if it exists; else the defaults.

    Raises KlocError if the file cannot be read, or if something in it is wrong.
    """
    if path is None:
        if not DEFAULT.exists():
            return Config()
        path = DEFAULT
    return parse(_text(path), path)


def check(path: Path) -> tuple[Config, list[str]]:
    """Return the content of a file, and notes on settings that cannot be checked here.

    Raises KlocError if the file cannot be read, if something in it is wrong, or if it sets a file
    that the kernel does not have.
    """
    file = _file(_text(path), path)
    content = file.config()
    return content, list(file.check_settings())


def parse(text: str, path: Path) -> Config:
    """Return the content of a file. Raises KlocError if something in it is wrong."""
    return _file(text, path).config()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise KlocError(f"{path} is not a text file", "name a file such as kloc.toml") from error
    except OSError as error:
        hint = HINTS.get(error.errno or 0, "the project has an example, packaging/kloc.toml")
        raise KlocError(f"{path}: {error.strerror}", hint) from error


def _file(text: str, path: Path) -> _File:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = 'names and paths stand in quotes: policy = "kloc"'
        if "overwrite" in str(error):
            hint = "a key or a table is there twice"
        raise KlocError(f"{path} is not TOML: {error}", hint) from error
    return _File(path, text, content)


def parse_limit(text: str) -> int | None:
    """Return the bytes that "4G", "512 MiB" or "1048576" stands for, None for "max".

    Raises ValueError if it is none of these, or so small that its unit is missing.
    """
    if text == NO_LIMIT:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", text)
    if found is None:
        raise ValueError(f"{text!r} is not a size")
    size = int(float(found[1]) * UNITS[found[2]])
    if 0 < size < LEAST_LIMIT:
        raise ValueError(f"{text!r} is only {size} bytes")
    return size


def setting_path(name: str) -> str:
    """Return the absolute path of a setting, which may be a name in /sys/kernel/mm/tiering."""
    return name if name.startswith("/") else f"/{tiering.FOLDER}/{name}"


def _is_cgroup(name: str) -> bool:
    """Return whether a name may be that of a cgroup, a path or the name of a unit."""
    return bool(name) and ".." not in name.split("/")


class _File:
    """The content of a file of settings, and where its keys are."""

    def __init__(self, path: Path, text: str, content: Mapping[str, Any]) -> None:
        self.path = path
        self.lines = dict(_lines_of_keys(text))
        self.content = content

    def config(self) -> Config:
        """Return the content, checked. Raises KlocError."""
        tables = {
            (): ("policy", "contexts", "kinds", "chosen", "settings", "limits"),
            ("limits",): ("nodes", "cgroups"),
        }
        for key, known in tables.items():
            self._refuse_unknown(key, known)
        policy = self._policy()
        kinds = self._texts(("kinds",), "one of " + ", ".join(KINDS), lambda one: one in KINDS)
        scope = self._one_of(("contexts",), SCOPES, None)
        chosen = self._texts(("chosen",), A_CGROUP, _is_cgroup)
        if chosen and scope != contexts.CHOSEN:
            raise self._wrong(
                ("chosen",),
                f'cgroups are chosen while contexts is "{scope or contexts.ALL}", so that all '
                "files have contexts",
                'add contexts = "chosen", or leave out chosen',
            )
        return Config(
            policy=policy,
            scope=scope,
            kinds=None if kinds is None else tuple(dict.fromkeys(kinds)),
            settings=dict(self._settings()),
            node_limits=dict(self._node_limits()),
            cgroup_limits=dict(self._cgroup_limits()),
            chosen=tuple(chosen or ()),
            file=self.path,
        )

    def check_settings(self) -> Iterator[str]:
        """Yield notes on files that may exist later. Raises KlocError for one that cannot."""
        for name in self._table(("settings",)):
            path, key = setting_path(name), ("settings", name)
            if problem := setting_files.problem(path):
                raise self._wrong(key, problem, "correct the name, or leave it out")
            if doubt := setting_files.doubt(path):
                yield f"{self._place(key)}: {doubt}"

    def _policy(self) -> str:
        key = ("policy",)
        policy = self._value(key)
        if policy in policy_files.names() and (reason := policy_files.load(policy).elsewhere):
            raise self._wrong(
                key, f"a server cannot have {policy!r}: {reason}", "choose another policy"
            )
        return str(self._one_of(key, policy_files.of_servers(), DEFAULT_POLICY))

    def _settings(self) -> Iterator[tuple[str, str]]:
        for name, value in self._table(("settings",)).items():
            key = ("settings", name)
            self._refuse_unquoted(key, value)
            if not SETTING.fullmatch(name):
                raise self._wrong(
                    key,
                    f"{name!r} is not a setting",
                    f"name a file below /proc/sys or /sys, or in /{tiering.FOLDER}, such as "
                    "rate_mbps or kloc/inactive_age",
                )
            path = setting_path(name)
            if path == policy_files.SELECTED:
                raise self._wrong(key, "this file selects the policy", 'write policy = "NAME"')
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise self._wrong(key, f"{value!r} is not a value", "write a number or a string")
            yield path, str(value)

    def _node_limits(self) -> Iterator[tuple[int, int | None]]:
        for name in self._table(("limits", "nodes")):
            key = ("limits", "nodes", name)
            found = re.fullmatch(r"(?:node)?(\d+)", name)
            if found is None:
                raise self._wrong(key, f"{name!r} is not a node", 'write node0 = "16G"')
            yield int(found[1]), self._limit(key)

    def _cgroup_limits(self) -> Iterator[tuple[str, int | None]]:
        for name, value in self._table(("limits", "cgroups")).items():
            key = ("limits", "cgroups", name)
            self._refuse_unquoted(key, value)
            if not _is_cgroup(name):
                raise self._wrong(key, f"{name!r} is not a cgroup", f"name {A_CGROUP}")
            yield name, self._limit(key)

    def _limit(self, key: Key) -> int | None:
        value = self._value(key)
        # A number is in bytes. True is an int, too, and no number here.
        if type(value) not in (int, str):
            raise self._wrong(key, f"{value!r} is not a size", A_LIMIT)
        try:
            return parse_limit(str(value))
        except ValueError as error:
            raise self._wrong(key, str(error), A_LIMIT) from error

    def _refuse_unquoted(self, key: Key, value: Any) -> None:
        """Raise KlocError if the value is a table: TOML takes each dot of a name for one."""
        names = [key[-1]]
        while isinstance(value, dict) and value:
            name, value = next(iter(value.items()))
            names.append(name)
        if len(names) > 1:
            name = ".".join(names)
            raise self._wrong(
                (*key[:-1], *names), "the name has a dot", f'put it in quotes: "{name}" = ...'
            )

    def _one_of(self, key: Key, known: Sequence[str], default: Any) -> Any:
        value = self._value(key)
        if value is None:
            return default
        if value not in known:
            similar = closest(value, known) if isinstance(value, str) else None
            guess = f", did you mean {similar!r}?" if similar else ""
            raise self._wrong(
                key, f"unknown value {value!r}{guess}", f"available: {', '.join(known)}"
            )
        return value

    def _texts(self, key: Key, allowed: str, holds: Callable[[str], bool]) -> list[str] | None:
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self._wrong(key, f"{value!r} is not a list", f"write a list, each {allowed}")
        for one in value:
            if not isinstance(one, str) or not holds(one):
                raise self._wrong(key, f"{one!r} is not allowed", f"write a list, each {allowed}")
        return value

    def _table(self, key: Key) -> Mapping[str, Any]:
        value = self._value(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(key, f"{value!r} is not a table", f"write [{'.'.join(key)}]")
        return value

    def _value(self, key: Key) -> Any:
        value: Any = self.content
        for at, name in enumerate(key):
            if not isinstance(value, dict):
                raise self._wrong(
                    key[:at], f"{value!r} is not a table", f"write [{'.'.join(key[:at])}]"
                )
            value = value.get(name)
            if value is None:
                return None
        return value

    def _refuse_unknown(self, key: Key, known: tuple[str, ...]) -> None:
        for name in self._table(key):
            if name not in known:
                similar = closest(name, known)
                guess = f", did you mean {similar!r}?" if similar else ""
                raise self._wrong(
                    (*key, name), f"this key is unknown{guess}", f"available: {', '.join(known)}"
                )

    def _wrong(self, key: Key, problem: str, hint: str) -> KlocError:
        """Return the error for what is wrong with a key; a hint says what is allowed."""
        return KlocError(f"{self._place(key)}: {problem}", hint)

    def _place(self, key: Key) -> str:
        line = self.lines.get(key)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return f"{place}: {'.'.join(key)}"


def _lines_of_keys(text: str) -> Iterator[tuple[Key, int]]:
    """Yield the keys and tables of a TOML file with their lines, which tomllib does not tell.

    A line of a string or list that goes over several lines may yield a key that does not exist.
    """
    table: Key = ()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            if (found := _only_key(stripped)) is not None:
                table = found
                yield table, number
        elif "=" in stripped:
            ends = (at for at, character in enumerate(stripped) if character == "=")
            names = (_only_key(f"{stripped[:at]}= 0") for at in ends)
            if found := next(filter(None, names), None):
                yield (*table, *found), number


def _only_key(line: str) -> Key | None:
    """Return the names of the only key or table in a line of TOML, None if it is no such line."""
    try:
        content: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(content, dict) and content:
        ((name, content),) = content.items()
        names.append(name)
    return tuple(names) or None
