# SPDX-License-Identifier: GPL-2.0
"""What the files of policies set on a server.

A server has the full size, so that the periods of [divided] are written as they are. The tables
[for.WORKLOAD] are left out: they were searched on the machine. kloc.measure.policy describes the
files; it needs packages that a server need not have, and checks more.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kloc.base import daemon, paths
from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError, unknown

FOLDER = paths.shipped("policies")

SUFFIX = ".toml"

SELECTED = "/sys/kernel/mm/tiering/policy"
"""The file that selects a policy of the kernel."""

MOVES = ("promoted", "demoted")
"""Counters in `expect` of policies that move pages between tiers."""


@dataclass(frozen=True)
class Policy:
    """A policy on a server. `values` has the text for each file, in the order to write them.

    `parameters` are those that the kernel must be booted with. `moves` says that the policy moves
    pages between tiers. `elsewhere` says why a server cannot have it; "" if it can. `daemon` is the
    program that is the policy, None if the kernel itself is.
    """

    name: str
    summary: str
    values: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    moves: bool = False
    elsewhere: str = ""
    daemon: Daemon | None = None

    @property
    def of_kernel(self) -> str | None:
        """The policy of the kernel that this one selects, None if it selects none."""
        return self.values.get(SELECTED)


def names() -> list[str]:
    """Return the names of all policies."""
    return sorted(_files())


def _files() -> dict[str, Path]:
    return paths.found("policies", SUFFIX, FOLDER)


def of_servers() -> list[str]:
    """Return the names of the policies that a server can have, if its kernel has what they set."""
    return [name for name in names() if not load(name).elsewhere]


def load(name: str) -> Policy:
    """Return the policy `name`. Raises KlocError if there is none, or if its file is wrong."""
    content = _complete(name)
    values = {path: str(value) for path, value in content["values"].items()}
    if SELECTED in values:
        values[SELECTED] = values.pop(SELECTED)
    return Policy(
        name=name,
        summary=content.get("summary", ""),
        values=values,
        parameters=tuple(content.get("parameters", ())),
        moves=bool(set(MOVES) & set(content.get("expect", ()))),
        elsewhere=_elsewhere(content),
        daemon=content.get("daemon"),
    )


def _elsewhere(content: Mapping[str, Any]) -> str:
    if "timing" in content or "frames_from" in content:
        return "it changes the timing of memory in kloc's machine; no server can do that"
    if "scheme" in content:
        return "it is a scheme of DAMON: kloc scheme apply runs it"
    if "swap" in content:
        return "it sets up swap in kloc's machine"
    return ""


def _complete(name: str) -> dict[str, Any]:
    """Return the content of a policy's file with all that it has from others.

    The tables [set] and [divided] are in "values", in the order to write them, and "daemon" is a
    Daemon.
    """
    own = _read(name)
    content = {**own, "values": {**own.get("set", {}), **own.get("divided", {})}}
    if "like" in own:
        base = _complete(own["like"])
        # What the base sets comes first, because files that this one adds may depend on it.
        kept = {
            path: text for path, text in base["values"].items() if path not in content["values"]
        }
        content = {**base, **content, "values": {**kept, **content["values"]}}
    for path, other in own.get("settings_of", {}).items():
        content["values"].pop(path, None)
        others = _complete(other)["values"]
        if path in others:
            content["values"][path] = others[path]
    return content


def _read(name: str) -> dict[str, Any]:
    path = Path(name) if paths.is_path(name, SUFFIX) else _files().get(name)
    if path is None:
        raise unknown("policy", name, names())
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KlocError(f"{path}: {error.strerror}", "name a file that exists") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KlocError(f"{path} is not TOML: {error}", "correct the file") from error
    if "daemon" in content:
        content["daemon"] = daemon.parse(content["daemon"], path)
    return content
