# SPDX-License-Identifier: GPL-2.0
"""The record of a heat map, and its file; docs/heatmap.md describes the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kloc.base import revision
from kloc.base.errors import KlocError
from kloc.schemes.sysfs import Attributes

SCHEMA = 1
"""The version of the file's format."""

Region = tuple[int, int, int]
"""First address, the address after the last one, and samples in which an access was seen."""


@dataclass(frozen=True)
class Process:
    """A monitored process; `name` is the kernel's, of up to 15 characters.

    `mapped` are the ranges of addresses that it had mapped at some time, sorted: first address, and
    the one after the last. It is empty if the process ended before they could be read.
    """

    pid: int
    name: str
    mapped: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Memory:
    """A range of physical memory of a node, in bytes; `tier` is its tier's name, "" without."""

    start: int
    end: int
    node: int
    tier: str = ""


@dataclass(frozen=True)
class Kinds:
    """The pages of a range of physical memory, in bytes, by kind, at the end of the recording.

    `pages` counts the pages of each kind (kloc.heat.kinds); of large memory, it counts a sample.
    """

    start: int
    end: int
    pages: dict[str, int]


@dataclass(frozen=True)
class Snapshot:
    """The regions of one aggregation interval of a target, by address.

    `time` is when the interval ended, in seconds from the start of the recording. `process` is the
    number of the process in the record, None for physical memory.
    """

    time: float
    process: int | None
    regions: tuple[Region, ...]


@dataclass(frozen=True)
class Mark:
    """A name for a time in a recording, in seconds from its start."""

    time: float
    name: str


@dataclass(frozen=True)
class Record:
    """What DAMON saw in `seconds`; `lost` counts snapshots that are missing or incomplete.

    `kinds` is empty for processes, if the kernel did not tell the kinds of pages, and in files of
    earlier versions. `kloc` is the commit of kloc that recorded it.
    """

    title: str
    kernel: str
    attributes: Attributes
    seconds: float
    snapshots: tuple[Snapshot, ...]
    processes: tuple[Process, ...] = ()
    memory: tuple[Memory, ...] = ()
    kinds: tuple[Kinds, ...] = ()
    marks: tuple[Mark, ...] = ()
    lost: int = 0
    kloc: str = revision.UNKNOWN
    heatmap: int = field(default=SCHEMA)

    @property
    def physical(self) -> bool:
        """Whether this is about physical memory."""
        return not self.processes


def document(record: Record) -> dict[str, Any]:
    """Return the record as --json writes it."""
    plain = {
        name: value
        for name, value in vars(record).items()
        if name not in ("snapshots", "attributes", "processes", "memory", "kinds", "marks")
    }
    return {
        "heatmap": plain.pop("heatmap"),
        **plain,
        "attributes": asdict(record.attributes),
        "processes": [asdict(one) for one in record.processes],
        "memory": [asdict(one) for one in record.memory],
        "kinds": [asdict(one) for one in record.kinds],
        "marks": [asdict(one) for one in record.marks],
        "snapshots": [vars(one) for one in record.snapshots],
    }


def from_document(content: Mapping[str, Any], name: str) -> Record:
    """Return the record in a document. Raises KlocError if it is none; `name` is for the error."""
    import msgspec

    if content.get("heatmap", SCHEMA) != SCHEMA:
        raise KlocError(
            f"{name} has a heat map in format {content['heatmap']}, and this kloc reads {SCHEMA}",
            "show it with the kloc that wrote it, or record it again",
        )
    if "heatmap" not in content:
        raise KlocError(f"{name} has no heat map", "name a file that kloc heatmap --json wrote")
    try:
        return msgspec.convert(content, Record)
    except msgspec.ValidationError as error:
        raise KlocError(
            f"{name} is no complete heat map: {error}", "record it again with kloc heatmap --json"
        ) from error


def read(path: Path) -> Record:
    """Return the record in a file. Raises KlocError if it cannot be read, or has none."""
    import msgspec

    try:
        content = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise KlocError(f"cannot read {path}: {error.strerror}", "name a readable file") from error
    except msgspec.DecodeError as error:
        raise KlocError(
            f"{path} is no JSON: {error}", "name a file that kloc heatmap --json wrote"
        ) from error
    return from_document(content if isinstance(content, dict) else {}, str(path))
