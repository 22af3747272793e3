# SPDX-License-Identifier: GPL-2.0
"""The known answers: which programs give them, and what they should be by the profile.

The programs are in machine/known; the first comment of each lists its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kloc.base.errors import unknown
from kloc.base.paths import PROJECT
from kloc.machine.profile import Profile, Tier
from kloc.measure.machine_bench import formulas

SOURCES = PROJECT / "machine" / "known"
"""The directory of the programs."""

TOLERANCE = 0.03
"""The bound of the deviation from the profile, as a fraction."""

TIERS = ("fast", "slow")

RANDOM_BYTES = 32 << 20
"""The memory that known_overlap.c accesses in random order."""

CHAIN = 4
"""The nodes that a look-up in the hash table of known_overlap.c visits."""

LOADED = (25, 50, 77, 93, 96)
"""Percent of the bandwidth at which known_latency.c measures loaded latency."""

SATURATED: dict[int, float | None] = {93: 0.1, 96: None}
"""Tolerances of latencies near saturation, where a percent of traffic is ten percent of latency."""

LOOP_INSTRUCTIONS = 2 * (4 << 20)
"""Of the loop of known_cores.c."""

TLB_WALKS_MIN = 4096
"""From so many pages on, entries of page tables do not fit into the L1 (see known_tlb.c)."""

SLEEP_US = 1000
"""How long known_cores.c sleeps."""

REQUEST = 4096
"""Bytes of a request of known_disk.c."""

Expected = Callable[[Profile, Mapping[str, float]], float]
"""Computes what an answer should be, from the profile and the answers of the same run by name."""


@dataclass(frozen=True)
class Answer:
    """A known answer: its name in a program's output, its title in tables, and its unit.

    `expected` is None if the profile says nothing about it. `tolerance` is the bound of its
    deviation from the expectation, None if it has none. Machines with fewer cores than `cores` do
    not have the answer.
    """

    name: str
    title: str
    unit: str
    expected: Expected | None
    tolerance: float | None = TOLERANCE
    cores: int = 1


@dataclass(frozen=True)
class Group:
    """Answers that are measured together, and chosen by the group's name on the command line.

    `commands` returns the command lines of its programs in the machine.
    """

    name: str
    summary: str
    commands: Callable[[Profile], Sequence[str]]
    answers: tuple[Answer, ...]


def _tier(profile: Profile, name: str) -> Tier:
    return profile.fast if name == "fast" else profile.slow


def _latency_answers(name: str) -> list[Answer]:
    def together(profile: Profile, _: Mapping[str, float]) -> float:
        tier = _tier(profile, name)
        rate = formulas.rate(tier, profile.cores, formulas.line_ns(tier, sequential=False))
        return profile.cores / rate

    answers = [
        Answer(
            f"{name}.idle",
            f"{name}: idle latency",
            "ns",
            lambda profile, _: formulas.overlapping_ns(_tier(profile, name), 1),
        )
    ]
    for percent in LOADED:
        answers += _loaded_answers(name, percent)
    answers.append(Answer(f"{name}.together", f"{name}: chase by all", "ns", together, cores=2))
    return answers


def _loaded_answers(name: str, percent: int) -> list[Answer]:
    """Return the latency at a traffic that others cause, and this traffic.

    The cores that cause it may not reach the percentage: the expectation is for what they reach.
    """
    traffic = f"{name}.traffic.{percent}"

    def latency(profile: Profile, answers: Mapping[str, float]) -> float:
        return formulas.loaded_latency(_tier(profile, name), answers[traffic])

    def aim(profile: Profile, _: Mapping[str, float]) -> float:
        return percent / 100 * _tier(profile, name).read_bandwidth

    return [
        Answer(traffic, f"{name}: traffic, {percent} %", "GB/s", aim, None, cores=2),
        Answer(
            f"{name}.loaded.{percent}",
            f"{name}: latency then",
            "ns",
            latency,
            SATURATED.get(percent, TOLERANCE),
            cores=2,
        ),
    ]


def _latency_commands(profile: Profile) -> list[str]:
    return [
        f"known_latency {node} {profile.cores} {_tier(profile, name).read_bandwidth * 1000:.0f}"
        for node, name in enumerate(TIERS)
    ]


def _bandwidth_answers(name: str) -> list[Answer]:
    def expected(cores: int | None, stored: bool) -> Expected:
        return lambda profile, _: formulas.sequential_bandwidth(
            profile, _tier(profile, name), cores or profile.cores, stored
        )

    return [
        Answer(f"{name}.read.one", f"{name}: read, one core", "GB/s", expected(1, False)),
        Answer(f"{name}.read.all", f"{name}: read, all cores", "GB/s", expected(None, False)),
        Answer(f"{name}.write.one", f"{name}: write, one core", "GB/s", expected(1, True)),
        Answer(f"{name}.write.all", f"{name}: write, all cores", "GB/s", expected(None, True)),
    ]


def _overlap_answers(name: str) -> list[Answer]:
    def chases(count: int) -> Expected:
        return lambda profile, _: formulas.overlapping_ns(
            _tier(profile, name), min(count, profile.cpu.outstanding)
        )

    def total(profile: Profile, _: Mapping[str, float]) -> float:
        missing = formulas.missing_share(profile, RANDOM_BYTES)
        return missing * formulas.overlapping_ns(_tier(profile, name), profile.cpu.outstanding)

    def chains(profile: Profile, _: Mapping[str, float]) -> float:
        # The first node of the next look-up is under way while the last one of this is waited for.
        tier = _tier(profile, name)
        under_way = CHAIN / (CHAIN - 1)
        return CHAIN / formulas.rate(tier, under_way, formulas.line_ns(tier, sequential=False))

    def stores(profile: Profile, _: Mapping[str, float]) -> float:
        under_way = min(profile.cpu.store_buffer, profile.cpu.outstanding)
        missing = formulas.missing_share(profile, RANDOM_BYTES)
        return missing * formulas.overlapping_ns(_tier(profile, name), under_way, stored=True)

    return [
        *(
            Answer(
                f"{name}.chases.{count}",
                f"{name}: {count} chase{'s' if count > 1 else ''}",
                "ns",
                chases(count),
            )
            for count in (1, 2, 4, 8, 16)
        ),
        Answer(f"{name}.list", f"{name}: linked list", "ns", chases(1)),
        Answer(f"{name}.sum", f"{name}: random sum", "ns", total),
        Answer(f"{name}.chains", f"{name}: hash chains of {CHAIN}", "ns", chains),
        Answer(f"{name}.stores", f"{name}: random stores", "ns", stores),
    ]


def _walk_pages(profile: Profile) -> int:
    """Return a number of pages of either size that both levels of the TLB do not reach."""
    return max(2 * profile.tlb.second, TLB_WALKS_MIN)


def _tlb_commands(profile: Profile) -> list[str]:
    tlb, walk = profile.tlb, _walk_pages(profile)
    small = f"{tlb.entries // 2} {2 * tlb.entries} {walk}"
    return [f"known_tlb {small} {tlb.huge_entries // 2} {2 * tlb.huge_entries} {walk}"]


def _tlb_answers(size: str, title: str) -> list[Answer]:
    # All lines are in the last-level cache.
    def first(profile: Profile, _: Mapping[str, float]) -> float:
        return profile.cpu.llc_latency_ns

    def second(profile: Profile, _: Mapping[str, float]) -> float:
        return profile.cpu.llc_latency_ns + profile.tlb.second_latency_ns

    def walk(profile: Profile, _: Mapping[str, float]) -> float:
        # So is the entry of the page. Those above it are in the paging-structure cache.
        return 2 * profile.cpu.llc_latency_ns

    return [
        Answer(f"tlb.{size}.first", f"{title}, first TLB", "ns", first),
        Answer(f"tlb.{size}.second", f"{title}, second TLB", "ns", second),
        Answer(f"tlb.{size}.walk", f"{title}, walks", "ns", walk),
    ]


def _loop_us(profile: Profile, _: Mapping[str, float]) -> float:
    return LOOP_INSTRUCTIONS * profile.cpu.ns_per_instruction / 1000


CORES = (
    Answer("cores.loop.one", "loop on one core", "us", _loop_us),
    Answer("cores.loop.all", "loops on all cores", "us", _loop_us, cores=2),
    Answer(
        "cores.modified",
        "other core's new line",
        "ns",
        lambda profile, _: profile.cpu.snoop_latency_ns,
        cores=2,
    ),
    Answer(
        "cores.spin",
        "round trip, spinning",
        "us",
        # Each core sees the other's store at the beginning of its next turn.
        lambda profile, _: 2 * profile.quantum_us,
        cores=2,
    ),
    Answer("cores.pipe", "round trip, pipes", "us", None, cores=2),
    Answer("cores.sleep", f"sleep of {SLEEP_US} us", "us", lambda *_: SLEEP_US),
)

DISK = (
    Answer(
        "disk.read.latency",
        "disk: read 4 KiB",
        "us",
        lambda profile, _: (
            profile.storage.read_latency_us + REQUEST / profile.storage.read_bandwidth / 1000
        ),
    ),
    Answer(
        "disk.write.latency",
        "disk: write 4 KiB",
        "us",
        lambda profile, _: (
            profile.storage.write_latency_us + REQUEST / profile.storage.write_bandwidth / 1000
        ),
    ),
    Answer(
        "disk.read.bandwidth",
        "disk: read in sequence",
        "GB/s",
        lambda profile, _: profile.storage.read_bandwidth,
    ),
    Answer(
        "disk.write.bandwidth",
        "disk: write in sequence",
        "GB/s",
        lambda profile, _: profile.storage.write_bandwidth,
    ),
)

GROUPS = (
    Group(
        "latency",
        "latency of each tier, idle and under load",
        _latency_commands,
        tuple(answer for name in TIERS for answer in _latency_answers(name)),
    ),
    Group(
        "bandwidth",
        "sequential bandwidth of one core and of all cores",
        lambda profile: [f"known_bandwidth {node} {profile.cores}" for node in (0, 1)],
        tuple(answer for name in TIERS for answer in _bandwidth_answers(name)),
    ),
    Group(
        "overlap",
        "misses that overlap: chases, lists, hash tables, random sums and stores",
        lambda _: [f"known_overlap {node}" for node in (0, 1)],
        tuple(answer for name in TIERS for answer in _overlap_answers(name)),
    ),
    Group(
        "tlb",
        "reach of the TLB with pages of 4 KiB and 2 MiB",
        _tlb_commands,
        (*_tlb_answers("small", "4 KiB"), *_tlb_answers("huge", "2 MiB")),
    ),
    Group(
        "cores",
        "cores beside each other: equal loops, modified lines, round trips, sleep",
        lambda profile: [f"known_cores {profile.cores}"],
        CORES,
    ),
    Group(
        "disk",
        "latency and bandwidth of the disk, with O_DIRECT",
        lambda _: ["known_disk /data/known"],
        DISK,
    ),
)
"""All known answers, in the order of tables."""


def choose(names: Sequence[str]) -> list[Group]:
    """Return the groups `names`, or all if there are no names.

    Raises KlocError for a name that no group has.
    """
    known = {group.name: group for group in GROUPS}
    for name in names:
        if name not in known:
            raise unknown("group of known answers", name, known)
    return [group for group in GROUPS if not names or group.name in names]


def expected_answers(groups: Sequence[Group], profile: Profile) -> list[Answer]:
    """Return the answers that a machine of this profile gives."""
    return [answer for group in groups for answer in group.answers if profile.cores >= answer.cores]
