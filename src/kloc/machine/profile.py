# SPDX-License-Identifier: GPL-2.0
"""Machine profiles: the cores, memory tiers and disk of a machine, read from TOML files.

Profiles are in machine/profiles, and in the user's configuration. `read` checks that a machine can
be made from a profile, so that a typing error is found before anything starts. `load`, for machines
that will run, also checks that this host has enough memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from kloc.base import paths
from kloc.base.errors import KlocError, unknown
from kloc.base.sizes import parse_size
from kloc.machine import toml_file

PROFILES = paths.shipped("machine", "profiles")
DEFAULT = "tiered"

QUANTUM_MAX = 100
"""The longest quantum, in us. Cores see each other's stores up to a quantum late."""

LINES_MAX = 32
"""At most this many lines of a core can be under way in the timing model."""

POINTS_MAX = 8
"""A curve of latency under load has at most this many points."""

CORES_MAX = 8
"""The timing model has at most this many cores, spare ones included."""

SOCKETS_MAX = 2
"""More sockets have not been tried."""

HOST_RESERVE = 768 << 20
"""Bytes that QEMU and the host need in addition to the guest's memory."""

MEMORY_MAX = 3 << 30
"""Up to this size, QEMU's pc machine maps all memory in one piece below 4 GiB."""

FAST_MIN = 96 << 20
"""The kernel and the smallest workload do not fit in less fast memory."""

CAPACITY_STEP = 2 << 20
"""A tier's capacity is a multiple of this, which is the size of a huge page."""

BANDWIDTH_MIN = 0.001
"""In GB/s: QEMU passes bandwidths to the kernel in whole MB/s."""

ONE_TIER = 640 / 576
"""The kernel sees two tiers if slow memory is this many times slower (latency x bandwidth).

A node's abstract distance is 576 for DRAM, multiplied by how much slower the node is. The kernel
rounds it down to a multiple of 128, and puts nodes with the same result in one tier.
"""

SIZES = {
    "cpu": ("llc", "l1"),
    "fast": ("capacity", "unit"),
    "slow": ("capacity", "unit"),
    "storage": ("capacity",),
}
"""The keys of each table whose values may have a unit, such as "192 MiB"."""

HINT = "machine/profiles/tiered.toml is an example with every key"


class Tier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A memory tier: capacity in bytes, idle latency of a miss, bandwidth in bytes per ns (GB/s).

    `unit` is the bytes of one transfer. `loaded` are points (utilization of the bandwidth, factor
    of the latency); between them the factor is linear.
    """

    capacity: int
    read_latency_ns: float
    read_bandwidth: float
    write_bandwidth: float
    unit: int
    loaded: tuple[tuple[float, float], ...]


class Cpu(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cores: ns per instruction that hits the caches, and caches in bytes and ways.

    The last-level cache is shared. `snoop_latency_ns` is the latency of a line that another core
    has modified. A core has at most `outstanding` lines under way, of which `store_buffer` are for
    stores; a reorder window of `window` instructions; and `prefetch` prefetched lines under way.
    """

    ns_per_instruction: float
    llc: int
    llc_ways: int
    llc_latency_ns: float
    snoop_latency_ns: float
    l1: int
    l1_ways: int
    outstanding: int
    window: int
    store_buffer: int
    prefetch: int


class Tlb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A core's TLB: first level for 4 KiB and 2 MiB pages, and a second level for both."""

    entries: int
    ways: int
    huge_entries: int
    huge_ways: int
    second: int
    second_ways: int
    second_latency_ns: float


class Storage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The disk: capacity in bytes, us from request to completion, bytes per ns (GB/s)."""

    capacity: int
    read_latency_us: float
    write_latency_us: float
    read_bandwidth: float
    write_bandwidth: float


class Remote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The link between two sockets: what it adds to the latency of memory, and GB/s each way.

    `loaded` is as in Tier.
    """

    latency_ns: float
    bandwidth: float
    loaded: tuple[tuple[float, float], ...]


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a profile's file.

    The capacities and periods of a real machine are divided by `scale`. The workload uses `cores`;
    kernel threads may use `spare_cores`, too. A core gets up to `quantum_us` ahead of another one.
    Cores and memory are divided among `sockets`; each has a node of fast and one of slow memory,
    with the latency and bandwidth of `fast` and `slow`. One socket has no `remote`.
    """

    summary: str
    cores: int
    spare_cores: int
    quantum_us: float
    scale: float
    cpu: Cpu
    tlb: Tlb
    fast: Tier
    slow: Tier
    storage: Storage
    sockets: int = 1
    remote: Remote | None = None


class Profile(Description, frozen=True, kw_only=True):
    """A machine: the content of the file `name`.toml, with variations.

    `variant` describes the differences from the file, and is empty if there are none.
    """

    name: str
    variant: str = ""

    def title(self) -> str:
        """Return the name, with the variations."""
        return f"{self.name}, {self.variant}" if self.variant else self.name

    def divided(self, period: float) -> int:
        """Return how long a period of the full-size machine is here: a whole number, at least 1."""
        return max(1, round(period / self.scale))

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON types, in the order that result files have."""
        figures: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        if self.remote is None:
            del figures["remote"]
        return {"name": self.name, **figures}

    def cpus_of(self, socket: int) -> range:
        """Return the CPUs of a socket. The last ones of them are its spare cores."""
        count = (self.cores + self.spare_cores) // self.sockets
        return range(socket * count, (socket + 1) * count)

    def workload_cpus(self) -> list[int]:
        """Return the CPUs that the workload uses: the same number in each socket."""
        count = self.cores // self.sockets
        return [cpu for socket in range(self.sockets) for cpu in self.cpus_of(socket)[:count]]

    def varied(
        self, fast: Fraction | None = None, slow_bandwidth: Fraction | None = None
    ) -> Profile:
        """Return this machine with another size of fast memory or bandwidth of slow memory.

        `fast` is a factor of fast memory's capacity. `slow_bandwidth` is the bandwidth of slow
        memory, for reads and for writes, as a fraction of fast memory's. Raises KlocError if the
        result is impossible, or this host has too little memory for it.
        """
        changed, differences = self, []
        if fast is not None and fast != 1:
            step = self.sockets * CAPACITY_STEP
            steps = max(1, round(fast * self.fast.capacity / step))
            changed = replace(changed, fast=replace(self.fast, capacity=steps * step))
            differences.append(f"fast x {fast}")
        if slow_bandwidth is not None:
            slow = replace(
                self.slow,
                read_bandwidth=float(slow_bandwidth * Fraction(self.fast.read_bandwidth)),
                write_bandwidth=float(slow_bandwidth * Fraction(self.fast.write_bandwidth)),
            )
            if slow != self.slow:
                changed = replace(changed, slow=slow)
                differences.append(f"slow bandwidth {slow_bandwidth}")
        changed = replace(changed, variant=", ".join(differences))
        check(changed)
        check_host(changed)
        return changed


def names() -> list[str]:
    """Return the names of the profiles that come with kloc, and of the user's."""
    return sorted(_files())


def _files() -> dict[str, Path]:
    return paths.found("machines", ".toml", PROFILES)


def load(name: str) -> Profile:
    """Return the profile, as `read` does. Raises KlocError, too, if this host cannot run it."""
    profile = read(name)
    check_host(profile)
    return profile


def read(name: str) -> Profile:
    """Return the profile of this name, or in the file `name` if that is a path.

    Raises KlocError, with the file and the key, if there is none, or no machine can be made from
    it. This host may have too little memory for it.
    """
    path = Path(name) if paths.is_path(name, ".toml") else _files().get(name)
    if path is None:
        raise unknown("machine", name, names())
    if not path.is_file():
        raise KlocError(f"{name} does not exist", "name a machine, or a file that exists")
    content = _with_sizes(toml_file.read(path, HINT), path)
    description = toml_file.convert(content, Description, path, HINT)
    profile = Profile(name=path.stem, **asdict(description))
    check(profile)
    return profile


def _with_sizes(content: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the content of a file, with its sizes in bytes."""
    tables = {
        part: {
            **content[part],
            **{
                key: parse_size(content[part][key], f"{path}: {part}.{key}")
                for key in keys
                if key in content[part]
            },
        }
        for part, keys in SIZES.items()
        if isinstance(content.get(part), Mapping)
    }
    return {**content, **tables}


def check(profile: Profile) -> None:
    """Raise KlocError if no machine can be made from this profile on any host."""
    # The first problem only: later checks rely on earlier ones, for example to divide.
    for problem in _problems(profile):
        raise _refused(profile, problem)


def check_host(profile: Profile) -> None:
    """Raise KlocError if this host has less memory than a machine of this profile needs."""
    memory = profile.fast.capacity + profile.slow.capacity
    host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory + HOST_RESERVE > host:
        raise _refused(
            profile,
            f"its memory is {memory >> 20} MiB, and this host has {host >> 20} MiB, "
            f"of which QEMU and the host need {HOST_RESERVE >> 20} MiB",
            "choose a machine with less memory (kloc machines lists them), or a larger host",
        )


def _refused(profile: Profile, problem: str, hint: str | None = None) -> KlocError:
    return KlocError(f"machine {profile.title()} is refused: {problem}", hint)


def _problems(profile: Profile) -> Iterator[str]:
    """Yield what makes a machine of this profile impossible."""
    parts = ["cpu", "tlb", "fast", "slow", "storage"]
    for part in parts if profile.remote is None else [*parts, "remote"]:
        for key, value in asdict(getattr(profile, part)).items():
            # The comparison is also false for nan.
            if key != "loaded" and (not value > 0 or value == float("inf")):
                yield f"{part}.{key} is {value}, and must be a positive number"
    if profile.cores < 1 or profile.spare_cores < 0:
        yield (
            f"cores is {profile.cores} and spare_cores {profile.spare_cores}; "
            "there must be 1 core or more, and 0 spare ones or more"
        )
    if profile.cores + profile.spare_cores > CORES_MAX:
        yield (
            f"cores and spare_cores are {profile.cores + profile.spare_cores} together, "
            f"and can be {CORES_MAX} at most"
        )
    if not 0.1 <= profile.quantum_us <= QUANTUM_MAX:
        yield f"quantum_us is {profile.quantum_us}, and must be between 0.1 and {QUANTUM_MAX}"
    yield from _socket_problems(profile)
    if not profile.scale >= 1:
        yield (
            f"scale is {profile.scale}, and must be 1 or more: "
            "a real machine's capacities are divided by it"
        )
    yield from _cpu_problems(profile.cpu)
    yield from _tlb_problems(profile.tlb)
    yield from _tier_problems("fast", profile.fast)
    yield from _tier_problems("slow", profile.slow)
    if _slowdown(profile) < ONE_TIER:
        yield (
            "slow memory is about as fast as fast memory, and the kernel would see one tier; "
            "give it more latency or less bandwidth"
        )
    if profile.fast.capacity < FAST_MIN:
        yield (
            f"fast.capacity is {profile.fast.capacity >> 20} MiB; "
            f"the kernel needs {FAST_MIN >> 20} MiB"
        )
    memory = profile.fast.capacity + profile.slow.capacity
    if memory > MEMORY_MAX:
        yield (
            f"fast and slow memory are {memory >> 20} MiB together, "
            f"and can be {MEMORY_MAX >> 20} MiB at most"
        )


def _socket_problems(profile: Profile) -> Iterator[str]:
    if not 1 <= profile.sockets <= SOCKETS_MAX:
        yield f"sockets is {profile.sockets}, and must be between 1 and {SOCKETS_MAX}"
    if profile.cores % profile.sockets or profile.spare_cores % profile.sockets:
        yield (
            f"cores is {profile.cores} and spare_cores {profile.spare_cores}; "
            f"each of {profile.sockets} sockets must have the same number of them"
        )
    if profile.sockets > 1 and profile.remote is None:
        yield (
            f"sockets is {profile.sockets}, and the table [remote] is missing; "
            "it says what an access to the other socket costs"
        )
    if profile.sockets == 1 and profile.remote is not None:
        yield "it has a table [remote] and one socket; add sockets = 2, or remove the table"
    if profile.remote is not None:
        yield from _curve_problems("remote", profile.remote.loaded)
        if profile.remote.bandwidth < BANDWIDTH_MIN:
            yield (
                f"remote.bandwidth is {profile.remote.bandwidth:g} GB/s, "
                f"and must be {BANDWIDTH_MIN:g} GB/s at least"
            )
    for label, tier in (("fast", profile.fast), ("slow", profile.slow)):
        if tier.capacity % (profile.sockets * CAPACITY_STEP):
            yield (
                f"{label}.capacity is {tier.capacity} bytes, and must be a multiple of "
                f"{CAPACITY_STEP >> 20} MiB for each of {profile.sockets} sockets"
            )


def _cpu_problems(cpu: Cpu) -> Iterator[str]:
    insn_ps = cpu.ns_per_instruction * 1000
    if insn_ps != int(insn_ps) or insn_ps > 1000:
        yield (
            f"cpu.ns_per_instruction is {cpu.ns_per_instruction}, "
            "and must be a whole number of ps, 1 ns at most"
        )
    for label, size, ways in (("llc", cpu.llc, cpu.llc_ways), ("l1", cpu.l1, cpu.l1_ways)):
        sets = size / (64 * ways)
        if sets != int(sets) or not _is_power_of_two(int(sets)):
            yield (
                f"cpu.{label} of {size} bytes with cpu.{label}_ways = {ways} has {sets:g} sets of "
                "64-byte lines, and their number must be a power of two"
            )
    for key, most in (("outstanding", LINES_MAX), ("store_buffer", LINES_MAX), ("prefetch", 64)):
        if getattr(cpu, key) > most:
            yield f"cpu.{key} is {getattr(cpu, key)}, and can be {most} at most"


def _tlb_problems(tlb: Tlb) -> Iterator[str]:
    for key, ways_key in (
        ("entries", "ways"),
        ("huge_entries", "huge_ways"),
        ("second", "second_ways"),
    ):
        entries, ways = getattr(tlb, key), getattr(tlb, ways_key)
        if entries % ways or not _is_power_of_two(entries // ways):
            yield (
                f"tlb.{key} = {entries} with tlb.{ways_key} = {ways}: "
                "entries / ways must be a power of two"
            )


def _tier_problems(label: str, tier: Tier) -> Iterator[str]:
    if not _is_power_of_two(tier.unit) or not 64 <= tier.unit <= 4096:
        yield f"{label}.unit is {tier.unit}, and must be a power of two from 64 to 4096 bytes"
    if tier.capacity % CAPACITY_STEP:
        yield (
            f"{label}.capacity is {tier.capacity} bytes, "
            f"and must be a multiple of {CAPACITY_STEP >> 20} MiB"
        )
    yield from _curve_problems(label, tier.loaded)
    bandwidth = min(tier.read_bandwidth, tier.write_bandwidth)
    if bandwidth < BANDWIDTH_MIN:
        yield f"{label} memory has {bandwidth:g} GB/s, and needs {BANDWIDTH_MIN:g} GB/s at least"


def _curve_problems(label: str, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    if not points or tuple(points[0]) != (0, 1) or len(points) > POINTS_MAX:
        yield f"{label}.loaded must have 1 to {POINTS_MAX} points, the first of them [0, 1]"
    for (before, slower), (after, slowest) in pairwise(points):
        if not before < after <= 1 or not slower <= slowest:
            yield (
                f"{label}.loaded has [{after}, {slowest}] after [{before}, {slower}]: "
                "utilization must rise to 1 at most, and factors must not fall"
            )


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _slowdown(profile: Profile) -> float:
    """Return how many times slower slow memory is to the kernel, which knows reads only."""
    latency = profile.slow.read_latency_ns / profile.fast.read_latency_ns
    return latency * profile.fast.read_bandwidth / profile.slow.read_bandwidth
