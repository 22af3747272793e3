# SPDX-License-Identifier: GPL-2.0
"""The known answers: which programs give them, and what they should be by the profile.

The programs are in machine/known; the first comment of each lists its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kloc.base import paths
from kloc.base.errors import KlocError, unknown
from kloc.machine.profile import Profile, Remote, Tier
from kloc.measure.machine_bench import formulas

SOURCES = paths.shipped("machine", "known")
"""The directory of the programs."""

TOLERANCE = 0.03
"""The bound of the deviation from the profile, as a fraction."""

TIERS = ("fast", "slow")
WAYS = ("local", "remote")

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
    deviation from the expectation, None if it has none. Machines with fewer cores in a socket than
    `cores`, or fewer sockets than `sockets`, do not have the answer.
    """

    name: str
    title: str
    unit: str
    expected: Expected | None
    tolerance: float | None = TOLERANCE
    cores: int = 1
    sockets: int = 1


@dataclass(frozen=True)
class Group:
    """Answers that are measured together, and chosen by the group's name on the command line.

    `commands` returns the command lines of its programs in the machine. All but those of the group
    `sockets` run on the first socket, in its memory: there the machine is one with fewer cores.
    """

    name: str
    summary: str
    commands: Callable[[Profile], Sequence[str]]
    answers: tuple[Answer, ...]


def _tier(profile: Profile, name: str) -> Tier:
    return profile.fast if name == "fast" else profile.slow


def _cores(profile: Profile) -> int:
    """Return the workload's cores of a socket."""
    return profile.cores // profile.sockets


def _nodes(profile: Profile) -> Sequence[int]:
    """Return the nodes of the first socket, in the order of TIERS."""
    return [number * profile.sockets for number, _ in enumerate(TIERS)]


def _latency_answers(name: str) -> list[Answer]:
    def together(profile: Profile, _: Mapping[str, float]) -> float:
        tier = _tier(profile, name)
        cores = _cores(profile)
        return cores / formulas.rate(tier, cores, formulas.line_ns(tier, sequential=False))

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
        f"known_latency {node} {_cores(profile)} {_tier(profile, name).read_bandwidth * 1000:.0f}"
        for node, name in zip(_nodes(profile), TIERS, strict=True)
    ]


def _bandwidth_answers(name: str) -> list[Answer]:
    def expected(cores: int | None, stored: bool) -> Expected:
        return lambda profile, _: formulas.sequential_bandwidth(
            profile, _tier(profile, name), cores or _cores(profile), stored
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


def _socket_commands(profile: Profile) -> list[str]:
    if profile.sockets == 1:
        return []
    return [f"known_sockets {_cores(profile)} {profile.cpus_of(1)[0]}"]


def _way_answers(way: str, name: str) -> list[Answer]:
    """Return the answers of a socket's cores in its own memory (`local`), or the other's."""

    def link(profile: Profile) -> Remote | None:
        return profile.remote if way == "remote" else None

    def idle(profile: Profile, _: Mapping[str, float]) -> float:
        return formulas.loaded_latency(_tier(profile, name), 0, link(profile))

    def stream(stored: bool) -> Expected:
        return lambda profile, _: formulas.sequential_bandwidth(
            profile, _tier(profile, name), _cores(profile), stored, link(profile)
        )

    prefix, title = f"sockets.{way}.{name}", f"{way} {name}"
    return [
        Answer(f"{prefix}.idle", f"{title}: idle latency", "ns", idle, sockets=2),
        Answer(f"{prefix}.read", f"{title}: read, one socket", "GB/s", stream(False), sockets=2),
        Answer(f"{prefix}.write", f"{title}: write, one socket", "GB/s", stream(True), sockets=2),
    ]


def _both(profile: Profile, _: Mapping[str, float]) -> float:
    # Each socket reads the memory that no other core reads, and each way of the link is used once.
    cores = _cores(profile)
    return 2 * formulas.sequential_bandwidth(profile, profile.fast, cores, False, profile.remote)


def _shared(profile: Profile, _: Mapping[str, float]) -> float:
    assert profile.remote is not None
    under_way = _cores(profile) * profile.cpu.prefetch
    each_ns = formulas.line_ns(profile.fast, sequential=True)
    rate = formulas.shared_rate(profile.fast, under_way, each_ns, profile.remote)
    return formulas.LINE * rate


def _loaded_link(profile: Profile, answers: Mapping[str, float]) -> float:
    return formulas.loaded_latency(profile.fast, answers["sockets.traffic"], profile.remote)


SOCKETS = (
    *(answer for name in TIERS for way in WAYS for answer in _way_answers(way, name)),
    Answer("sockets.both", "each other's fast: read, all", "GB/s", _both, sockets=2),
    Answer("sockets.shared", "one socket's fast: read, all", "GB/s", _shared, sockets=2),
    Answer("sockets.traffic", "remote fast: traffic", "GB/s", None, None, cores=2, sockets=2),
    Answer("sockets.loaded", "remote fast: latency then", "ns", _loaded_link, cores=2, sockets=2),
)


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
        lambda profile: [f"known_bandwidth {node} {_cores(profile)}" for node in _nodes(profile)],
        tuple(answer for name in TIERS for answer in _bandwidth_answers(name)),
    ),
    Group(
        "overlap",
        "misses that overlap: chases, lists, hash tables, random sums and stores",
        lambda profile: [f"known_overlap {node}" for node in _nodes(profile)],
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
        lambda profile: [f"known_cores {_cores(profile)}"],
        CORES,
    ),
    Group(
        "disk",
        "latency and bandwidth of the disk, with O_DIRECT",
        lambda _: ["known_disk /data/known"],
        DISK,
    ),
    Group(
        "sockets",
        "memory of a core's own socket and of the other one, on machines with two sockets",
        _socket_commands,
        SOCKETS,
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


def choose_for(names: Sequence[str], profiles: Sequence[Profile]) -> list[Group]:
    """Return the groups `names`, or all, without those of which no machine has an answer.

    Raises KlocError for a name that no group has, or whose group has no answer.
    """
    groups = choose(names)
    found = [one for one in groups if any(expected_answers([one], each) for each in profiles)]
    if names and len(found) < len(groups):
        without = next(one.name for one in groups if one not in found)
        titles = ", ".join(profile.title() for profile in profiles)
        raise KlocError(
            f"no answer of the group {without} is known of {titles}",
            "name a machine with two sockets, such as four-node",
        )
    return found


def expected_answers(groups: Sequence[Group], profile: Profile) -> list[Answer]:
    """Return the answers that a machine of this profile gives."""
    return [
        answer
        for group in groups
        for answer in group.answers
        if _cores(profile) >= answer.cores and profile.sockets >= answer.sockets
    ]
