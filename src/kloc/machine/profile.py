# SPDX-License-Identifier: GPL-2.0
"""Machine profiles: what each memory, the core and the disk of a machine can do.

A profile is a TOML file under machine/profiles. Reading one checks that it
makes sense, so that no machine is started on figures that were mistyped;
loading one, to run a machine, also checks that this host has the memory.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError, unknown
from kloc.base.paths import PROJECT

PROFILES = PROJECT / "machine" / "profiles"
DEFAULT = "tiered"
BACKGROUND = ("own-core", "shared")

MIB = 1 << 20
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# What QEMU and the host's own needs take beside the guest's memory, bytes.
HOST_RESERVE = 768 * MIB
# Below this QEMU's pc machine maps all memory in one piece under 4 GiB.
MEMORY_MAX = 3 << 30
# The kernel and the smallest workload do not fit in less fast memory.
FAST_MIN = 96 * MIB
# Nodes are made of such pieces (and so of whole large pages).
CAPACITY_STEP = 2 * MIB
# QEMU tells the kernel of bandwidths in whole MB/s, bytes a ns here.
BANDWIDTH_MIN = 0.001
# A node that is less than so many times slower, in latency x bandwidth, than the
# first is in the same tier for the kernel: its abstract distance, 576 for DRAM, is
# rounded down to a multiple of 128.
ONE_TIER = 640 / 576


@dataclass(frozen=True)
class Tier:
    """One tier of memory: bytes, ns for a miss, bytes a ns (GB/s), bytes a transfer."""

    capacity: int
    read_latency_ns: float
    write_latency_ns: float
    read_bandwidth: float
    write_bandwidth: float
    unit: int


@dataclass(frozen=True)
class Cpu:
    """The core: ns an instruction takes without misses, its caches (bytes, ways)."""

    ns_per_instruction: float
    llc: int
    llc_ways: int
    l1: int
    l1_ways: int
    store_stall: float


@dataclass(frozen=True)
class Storage:
    """The disk: bytes, us from request to completion, bytes a ns (GB/s)."""

    capacity: int
    read_latency_us: float
    write_latency_us: float
    read_bandwidth: float
    write_bandwidth: float


@dataclass(frozen=True)
class Profile:
    """A machine: its name, what it models, and the figures of each part.

    `variant` says in what it was made to differ from the file of that name, and is empty if in
    nothing.
    """

    name: str
    summary: str
    cores: int
    scale: float
    background: str
    cpu: Cpu
    fast: Tier
    slow: Tier
    storage: Storage
    variant: str = ""

    def title(self) -> str:
        """Return the name, with what is varied."""
        return f"{self.name}, {self.variant}" if self.variant else self.name

    def varied(
        self, fast: Fraction | None = None, slow_bandwidth: Fraction | None = None
    ) -> Profile:
        """Return the same machine but for what is given; KlocError if there cannot be such a one.

        `fast` is a factor of fast memory's capacity, `slow_bandwidth` the fraction of fast memory's
        bandwidth, for reads and for writes, that slow memory has.
        """
        changed, differs = self, []
        if fast is not None and fast != 1:
            pieces = max(1, round(fast * self.fast.capacity / CAPACITY_STEP))
            changed = replace(changed, fast=replace(self.fast, capacity=pieces * CAPACITY_STEP))
            differs.append(f"fast x {fast}")
        if slow_bandwidth is not None:
            slow = replace(
                self.slow,
                read_bandwidth=float(slow_bandwidth * Fraction(self.fast.read_bandwidth)),
                write_bandwidth=float(slow_bandwidth * Fraction(self.fast.write_bandwidth)),
            )
            if slow != self.slow:
                changed = replace(changed, slow=slow)
                differs.append(f"slow bandwidth {slow_bandwidth}")
        changed = replace(changed, variant=", ".join(differs))
        check(changed)
        check_host(changed)
        return changed


def names() -> list[str]:
    """Return the names of the profiles that there are."""
    return sorted(path.stem for path in PROFILES.glob("*.toml"))


def load(name: str) -> Profile:
    """Return the profile of that name or path, as `read` does; KlocError if this host is small."""
    profile = read(name)
    check_host(profile)
    return profile


def read(name: str) -> Profile:
    """Return the profile of that name, or of that path if it ends in .toml.

    Raises KlocError, naming the file and the key, for one that makes no sense. This host may have
    less memory than it takes.
    """
    path = Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"
    if not path.is_file():
        if name.endswith(".toml"):
            raise KlocError(f"there is no machine profile {name}")
        raise unknown("machine", name, names())
    try:
        text = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KlocError(
            f"{path}: {error}", "it must be TOML: see machine/profiles/tiered.toml"
        ) from error
    profile = _parse(path, text)
    check(profile)
    return profile


def size(text: object, where: str) -> int:
    """Return the bytes that "192 MiB" or a plain number stands for."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str):
        number, _, unit = text.strip().partition(" ")
        if unit in UNITS:
            try:
                return int(float(number) * UNITS[unit])
            except (ValueError, OverflowError):
                pass
    raise KlocError(
        f"{where}: {text!r} is no size", f'write it as "192 MiB" (units: {", ".join(UNITS)})'
    )


def check(profile: Profile) -> None:
    """Raise KlocError if no machine can be made from this profile, on whatever host."""

    def refuse(reason: str) -> None:
        raise _refused(profile, reason)

    for part in ("cpu", "fast", "slow", "storage"):
        for key, value in vars(getattr(profile, part)).items():
            if not value > 0 or value == float("inf"):
                refuse(f"{part}.{key} is {value}, and must be a positive number")
    if profile.cores != 1:
        refuse(
            f"cores is {profile.cores}; the timing model has one core (docs/machine.md says why)"
        )
    if profile.scale < 1:
        refuse(f"scale is {profile.scale}; a real machine is divided by it, so it is 1 or more")
    if profile.background not in BACKGROUND:
        refuse(f"background is {profile.background!r}, and must be one of {', '.join(BACKGROUND)}")
    if profile.cpu.store_stall > 1:
        refuse("cpu.store_stall is the part of a store's miss that stalls, and cannot exceed 1")
    for label, capacity, ways in (
        ("llc", profile.cpu.llc, profile.cpu.llc_ways),
        ("l1", profile.cpu.l1, profile.cpu.l1_ways),
    ):
        sets = capacity / (64 * ways)
        if sets != int(sets) or int(sets) & (int(sets) - 1):
            refuse(
                f"cpu.{label} of {capacity} bytes in {ways} ways gives {sets:g} sets, "
                "which must be a power of two"
            )
    for label, tier in (("fast", profile.fast), ("slow", profile.slow)):
        if tier.unit & (tier.unit - 1) or not 64 <= tier.unit <= 4096:
            refuse(f"{label}.unit is {tier.unit}, and must be a power of two from 64 to 4096 bytes")
        if tier.capacity % CAPACITY_STEP:
            refuse(f"{label}.capacity must be a multiple of {CAPACITY_STEP >> 20} MiB")
        slowest = min(tier.read_bandwidth, tier.write_bandwidth)
        if slowest < BANDWIDTH_MIN:
            refuse(f"{label} has {slowest:g} GB/s, and needs {BANDWIDTH_MIN:g} GB/s at least")
    if _distance(profile) < ONE_TIER:
        refuse(
            "slow memory is about as fast as fast memory, and the kernel would see one tier "
            "(more latency or less bandwidth makes it two)"
        )
    if profile.fast.capacity < FAST_MIN:
        refuse(
            f"fast.capacity is {profile.fast.capacity >> 20} MiB; "
            f"the kernel needs {FAST_MIN >> 20} MiB"
        )
    memory = profile.fast.capacity + profile.slow.capacity
    if memory > MEMORY_MAX:
        refuse(
            f"its memory is {memory >> 20} MiB, and the machine has room for {MEMORY_MAX >> 20} MiB"
        )


def check_host(profile: Profile) -> None:
    """Raise KlocError if this host has less memory than a machine of this profile takes."""
    memory = profile.fast.capacity + profile.slow.capacity
    host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory + HOST_RESERVE > host:
        raise _refused(
            profile,
            f"its memory is {memory >> 20} MiB, and this host has {host >> 20} MiB, "
            f"of which {HOST_RESERVE >> 20} MiB are needed beside it",
        )


def _refused(profile: Profile, reason: str) -> KlocError:
    return KlocError(f"machine {profile.title()} is refused: {reason}")


def _distance(profile: Profile) -> float:
    """Return how far the tiers are apart for the kernel, which is told of their reads."""
    latency = profile.slow.read_latency_ns / profile.fast.read_latency_ns
    return latency * profile.fast.read_bandwidth / profile.slow.read_bandwidth


def _parse(path: Path, text: Mapping[str, Any]) -> Profile:
    parts = {"cpu": Cpu, "fast": Tier, "slow": Tier, "storage": Storage}
    top = {"summary": str, "cores": int, "scale": float, "background": str}
    _known(path, "", text, [*top, *parts])
    values: dict[str, Any] = {"name": path.stem}
    for key, kind in top.items():
        values[key] = _value(path, key, text[key], kind)
    for part, kind in parts.items():
        table = text[part]
        if not isinstance(table, Mapping):
            raise KlocError(f"{path}: {part} must be a table, [{part}]")
        fields = kind.__annotations__
        _known(path, f"{part}.", table, list(fields))
        values[part] = kind(
            **{
                key: _value(path, f"{part}.{key}", table[key], _kind(key, fields[key]))
                for key in fields
            }
        )
    return Profile(**values)


def _kind(key: str, annotation: str) -> Any:
    if key in ("capacity", "llc", "l1", "unit"):
        return size
    return {"int": int, "float": float, "str": str}[annotation]


def _value(path: Path, key: str, value: object, kind: Any) -> Any:
    if kind is size:
        return size(value, f"{path}: {key}")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, kind):
        raise KlocError(f"{path}: {key} is {value!r}, and must be of type {kind.__name__}")
    return value


def _known(path: Path, prefix: str, table: Mapping[str, Any], keys: list[str]) -> None:
    for key in table:
        if key not in keys:
            error = unknown(f"{path.name}: key", prefix + key, [prefix + known for known in keys])
            raise error
    missing = [prefix + key for key in keys if key not in table]
    if missing:
        raise KlocError(
            f"{path}: {', '.join(missing)} is missing", "machine/profiles/tiered.toml has every key"
        )
