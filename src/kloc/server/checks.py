# SPDX-License-Identifier: GPL-2.0
"""What keeps a server from tiering its memory, and what to do about it.

docs/server.md ("What can be wrong") explains each finding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kloc.base import numa
from kloc.base.errors import KlocError
from kloc.base.sizes import rounded_size
from kloc.server import (
    config,
    contexts,
    control,
    daemons,
    kernel_settings,
    memory,
    plan,
    policy_files,
    slabs,
    system,
    tiering,
)
from kloc.server.memory import Node
from kloc.server.system import read

DRAM_DISTANCE = 576
"""The kernel's abstract distance of DRAM (MEMTIER_ADISTANCE_DRAM)."""

TIER_SHIFT = 7
"""Nodes whose abstract distances differ in bits above these are in different tiers."""

DAX = "sys/bus/dax/devices"

ONLINE = "daxctl reconfigure-device --mode=system-ram --no-movable"
"""Brings memory of a DAX device online. Slabs cannot go to ZONE_MOVABLE; and where a kernel brings
memory online by itself, as Debian's and kloc's do, daxctl refuses without --no-movable.
"""

MOVERS = {
    "memtierd": "moves memory of processes between nodes",
    "numad": "moves processes and their memory between nodes",
    "damo": "runs schemes of DAMON",
    "hmctl": "controls how HMSDK places memory",
}
"""Programs that place or move memory, too, by the names of their processes."""

DAMON_MODULES = {
    "damon_reclaim": "reclaims memory that is not accessed",
    "damon_lru_sort": "sorts the LRU lists, by which memory is demoted",
}

KDAMONDS = "sys/kernel/mm/damon/admin/kdamonds"

IDLE_ACTIONS = ("", "stat")
"""Actions of DAMON's schemes that change nothing."""


Tiers = tuple[list[int], list[int]] | None
"""The fast and the slow nodes, None if there are no two tiers."""


@dataclass(frozen=True)
class Finding:
    """One property of the server. If it is not `well`, `remedy` says what to do."""

    what: str
    well: bool
    state: str
    remedy: str = ""


@dataclass(frozen=True)
class Speed:
    """What the firmware says of a node's memory, as its own CPUs or the nearest ones access it.

    Latencies are in ns, bandwidths in MB/s, each of reads and writes added up.
    """

    latency: int
    bandwidth: int

    def __str__(self) -> str:
        """Return the means of reads and writes."""
        return f"{self.latency / 2:g} ns, {self.bandwidth / 2000:g} GB/s"


def findings() -> list[Finding]:
    """Return all findings, first those that others follow from."""
    nodes = memory.read_nodes()
    speeds = {number: speed for number in nodes if (speed := read_speed(number)) is not None}
    tiers = numa.read_fast_and_slow(system.ROOT)
    found = [_kernel(tiers), _tiers(tiers, nodes, speeds), *_unused_devices()]
    found += [_firmware(nodes, speeds), _policy(tiers)]
    found += _settings()
    found.append(_demotion(nodes))
    found.append(_others())
    found.append(_plan())
    if os.geteuid() != 0:
        remedy = f"some of this may only be read by root: {system.AS_ROOT}"
        found.append(Finding("user", False, "not root", remedy))
    return found


def read_speed(node: int) -> Speed | None:
    """Return what the firmware says of a node (HMAT, CDAT), None if it says nothing."""
    # Class 1 has the CPUs only; class 0 has all that may access memory, and is the older one.
    for access in ("access1", "access0"):
        folder = f"{numa.NODES.lstrip('/')}/node{node}/{access}/initiators"
        texts = [
            read(f"{folder}/{way}_{what}")
            for what in ("latency", "bandwidth")
            for way in ("read", "write")
        ]
        values = [int(text) if text and text.isdecimal() else 0 for text in texts]
        speed = Speed(values[0] + values[1], values[2] + values[3])
        if speed.latency and speed.bandwidth:
            return speed
    return None


def expected_tiers(speeds: Mapping[int, Speed], dram: Sequence[int]) -> dict[int, int] | None:
    """Return the number of the tier that each node belongs to by its speed.

    It is computed as the kernel does (mt_perf_to_adistance), relative to the first of the nodes
    with CPUs, `dram`. None if these differ by more than a tenth: then the kernel goes by nothing.
    """
    reference = [speeds[node] for node in dram if node in speeds]
    if not reference:
        return {}
    first = reference[0]
    for other in reference:
        if abs(other.latency - first.latency) * 10 > first.latency:
            return None
        if abs(other.bandwidth - first.bandwidth) * 10 > first.bandwidth:
            return None
    return {
        node: (DRAM_DISTANCE * speed.latency // first.latency * first.bandwidth // speed.bandwidth)
        >> TIER_SHIFT
        for node, speed in speeds.items()
    }


def _kernel(tiers: Tiers) -> Finding:
    try:
        tiering.check_kernel()
    except KlocError as error:
        if policy := _without_own_kernel():
            state = f"Linux {os.uname().release} is not kloc's, which policy {policy} does not need"
            return Finding("kernel", True, state)
        remedy = "boot kloc's kernel"
        if tiers is not None:
            remedy += "; on this one, kloc on --policy tpp sets Linux's own tiering"
        return Finding("kernel", False, error.message, remedy)
    release, names = os.uname().release, ", ".join(tiering.names())
    return Finding("kernel", True, f"Linux {release} of kloc, with the policies {names}")


def _without_own_kernel() -> str:
    """Return the policy that is on, else that of kloc.toml; "" if it needs kloc's kernel."""
    record = control.recorded()
    try:
        settings = config.read()
        if record is not None:
            settings = replace(settings, policy=record.policy)
        return "" if plan.needs_own_kernel(settings) else settings.policy
    except KlocError:
        # `kloc on` would be refused for it, too.
        return ""


def _tiers(tiers: Tiers, nodes: Mapping[int, Node], speeds: Mapping[int, Speed]) -> Finding:
    what = "tiers"
    if tiers is not None:
        fast, slow = (_named(tier) for tier in tiers)
        return Finding(what, True, f"fast: {fast}; slow: {slow}")
    if not system.path_of(numa.MEMORY_TIERS).exists():
        remedy = "boot a kernel with CONFIG_NUMA and CONFIG_MIGRATION"
        return Finding(what, False, "the kernel has no tiers of memory", remedy)
    if len(nodes) < 2:
        remedy = (
            "slow memory is not online: daxctl list and cxl list (packages daxctl and cxl) show "
            f"what there is, and {ONLINE} DEVICE brings it online"
        )
        return Finding(what, False, f"all memory is on {_named(list(nodes))}", remedy)
    state = f"{_named(list(nodes))} are in one tier, so that no page moves"
    with_cpus = _with_cpus()
    without = [node for node in nodes if node not in with_cpus]
    if not without:
        remedy = (
            "all of them have CPUs, and sockets count as equally fast; slow memory has to be a "
            "node without CPUs"
        )
    elif any(node not in speeds for node in without):
        dumb = [node for node in without if node not in speeds]
        remedy = (
            f"the firmware tells no latency of {_named(dumb)} (HMAT for memory that it sets up, "
            "CDAT for CXL), so that the kernel takes it for DRAM: enable HMAT in the firmware's "
            "settings; or let it mark this memory as specific-purpose, and bring it online with "
            f"{ONLINE}, which puts it into a tier of its own"
        )
    else:
        remedy = (
            "the firmware says that they are about equally fast (see below); if that is wrong, "
            "bring the slow memory online with daxctl instead of at boot"
        )
    return Finding(what, False, state, remedy)


def _unused_devices() -> Iterator[Finding]:
    """Yield the memory devices that no driver brings online."""
    devices = sorted((system.ROOT / DAX).glob("dax*"))
    unused = [
        path.name
        for path in devices
        if not (path / "driver").is_symlink() or (path / "driver").readlink().name != "kmem"
    ]
    if unused:
        yield Finding(
            "memory devices",
            False,
            f"not used as memory: {', '.join(unused)}",
            f"if programs do not use them: {ONLINE} DEVICE",
        )


def _firmware(nodes: Mapping[int, Node], speeds: Mapping[int, Speed]) -> Finding:
    """Return whether the tiers are what the firmware says of the nodes."""
    what = "firmware"
    if not speeds:
        return Finding(what, True, "it tells no latency of any node: tiers are the kernel's guess")
    said = "; ".join(f"node {node}: {speed}" for node, speed in sorted(speeds.items()))
    expected = expected_tiers(speeds, [node for node in _with_cpus() if node in nodes])
    if expected is None:
        remedy = (
            "the kernel then ignores all of it: update the firmware, or turn off sub-NUMA "
            "clustering or mixed DIMMs that make nodes with CPUs unequal"
        )
        return Finding(what, False, f"nodes with CPUs differ by over 10 % ({said})", remedy)
    actual = _tier_numbers()
    wrong = [
        f"node {node} belongs to tier {tier}, and is in tier {actual[node]}"
        for node, tier in sorted(expected.items())
        if node in actual and actual[node] != tier
    ]
    if wrong:
        remedy = (
            "the memory came online before the kernel knew: take it offline and online again "
            "(daxctl offline-memory, online-memory), or reboot; dmesg | grep -i -e hmat -e cdat "
            "-e memory-tiers says what the kernel read"
        )
        return Finding(what, False, f"{'; '.join(wrong)} ({said})", remedy)
    return Finding(what, True, f"says what the tiers are ({said})")


def _policy(tiers: Tiers) -> Finding:
    what, record, selected = "policy", control.recorded(), tiering.selected()
    if record is None:
        own = system.path_of(tiering.POLICY).exists() or _without_own_kernel()
        remedy = "kloc on, or systemctl enable --now kloc" if own else "kloc on --policy tpp"
        if selected != tiering.NONE:
            return Finding(what, True, f"{selected} is selected, not by kloc on")
        if tiers is None:
            return Finding(what, True, "kloc is off; it needs two tiers first")
        return Finding(what, False, "kloc is off, and no policy is selected", remedy)
    by = record.config or "default settings"
    if not record.complete:
        remedy = "kloc off restores what was there before; kloc on tries again"
        state = "kloc on or kloc compare --native was killed, or is running"
        return Finding(what, False, state, remedy)
    if (policy_files.load(record.policy).of_kernel or selected) != selected:
        remedy = "kloc on selects it again; kloc off, then kloc on forgets the other one"
        return Finding(
            what, False, f"kloc is on with {record.policy}, but {selected} is selected", remedy
        )
    if record.daemon is not None and not daemons.is_active(record.daemon):
        unit = daemons.unit(record.daemon)
        return Finding(
            what,
            False,
            f"kloc is on with {record.policy}, whose daemon does not run",
            f"journalctl --unit={unit} says why; kloc on starts it again",
        )
    unit = f", its daemon is {daemons.unit(record.daemon)}" if record.daemon else ""
    return Finding(what, True, f"kloc is on: {record.policy}, {by}{unit}")


def _settings() -> Iterator[Finding]:
    """Yield the settings of the kernel that contexts need, while there are contexts."""
    if not contexts.exist():
        return
    remarks = list(kernel_settings.remarks(kernel_settings.read_all()))
    state = "pages of applications are tiered, too"
    if not remarks:
        yield Finding("settings", True, state)
    for remark in remarks:
        yield Finding("settings", False, *_halves(remark))


def _demotion(nodes: Mapping[int, Node]) -> Finding:
    """Return whether memory can be demoted: kswapd works, and slow memory has room."""
    what = "demotion"
    policy = tiering.selected()
    moves_slabs = bool(contexts.exist() and slabs.read_caches())
    remarks = list(memory.remarks(dict(nodes), policy, moves_slabs))
    if remarks:
        return Finding(what, False, *_halves(remarks[0]))
    slow = [number for number, node in nodes.items() if node.tier == memory.SLOW]
    full = [number for number in slow if _is_full(number)]
    if slow and full == slow:
        swap = "" if len((read("proc/swaps") or "").splitlines()) > 1 else "; there is no swap"
        return Finding(
            what,
            False,
            f"slow memory is full ({_named(full)}): reclaim of fast memory evicts instead of "
            f"demoting{swap}",
            "kloc top --sort slow shows which files fill it; remove or limit what is not needed "
            "(memory.max, memory.reclaim), add slow memory, or swap",
        )
    if not slow:
        return Finding(what, True, "there is no slow memory to demote to")
    free = sum(_free(number) for number in slow) * os.sysconf("SC_PAGE_SIZE")
    return Finding(what, True, f"{rounded_size(free)} of slow memory are free")


def _others() -> Finding:
    """Return whether something else moves memory, too."""
    what = "other mechanisms"
    found = [*_other_kernel_parts(), *_other_programs()]
    if not found:
        return Finding(what, True, "nothing else moves memory between nodes")
    why = "two that move the same pages undo each other's work"
    if control.recorded() is None and tiering.selected() == tiering.NONE:
        why = "before kloc on, end what moves the same pages"
    remedies = "; ".join(dict.fromkeys(remedy for _, remedy in found))
    return Finding(what, False, "; ".join(problem for problem, _ in found), f"{why}: {remedies}")


def _other_kernel_parts() -> Iterator[tuple[str, str]]:
    """Yield which other parts of the kernel move memory, and how to stop them."""
    for folder in sorted((system.ROOT / KDAMONDS).glob("[0-9]*")):
        if read(folder / "state") == "on" and not _own_daemon_controls_damon():
            actions = {read(path) or "" for path in folder.glob("contexts/*/schemes/*/action")}
            if acting := sorted(actions - set(IDLE_ACTIONS)):
                yield (
                    f"DAMON (kdamond {folder.name}) runs {', '.join(acting)}",
                    "kloc scheme show says who started it, and kloc scheme stop or damo stop ends "
                    "it",
                )
    for name, does in DAMON_MODULES.items():
        path = f"sys/module/{name}/parameters/enabled"
        if read(path) == "Y":
            yield f"{name} {does}", f"echo N > /{path}"
    if (mode := read("proc/sys/vm/zone_reclaim_mode")) not in (None, "0"):
        yield (
            f"vm.zone_reclaim_mode is {mode}: nodes reclaim before they use other nodes",
            "sysctl vm.zone_reclaim_mode=0",
        )
    # The flags of NUMA balancing: 1 moves pages to the CPU that uses them, 2 promotes.
    balancing = int(read("proc/sys/kernel/numa_balancing") or 0)
    if balancing and tiering.selected() == "thermostat":
        yield (
            "NUMA balancing promotes by rules of its own, not by those of thermostat",
            "echo 0 > /proc/sys/kernel/numa_balancing",
        )


def _own_daemon_controls_damon() -> bool:
    """Return whether the schemes of DAMON are those of the daemon that kloc on has started."""
    record = control.recorded()
    if record is None or record.daemon is None or not daemons.is_active(record.daemon):
        return False
    used = policy_files.load(record.daemon).daemon
    return used is not None and used.controls_damon


def _other_programs() -> Iterator[tuple[str, str]]:
    record = control.recorded()
    own = record.daemon if record else None
    names = {
        read(path)
        for path in system.ROOT.glob("proc/[0-9]*/comm")
        if own is None or not daemons.runs_in(own, path.parent)
    }
    for name, does in MOVERS.items():
        if name in names:
            yield f"{name} {does}", f"systemctl stop {name}, or stop it as it was started"


def _plan() -> Finding:
    """Return whether `kloc on` would work."""
    what = "kloc on"
    try:
        settings = config.read()
    except KlocError as error:
        return Finding(what, False, error.message, error.hint or "")
    refusals = list(plan.refusals(settings))
    if refusals:
        messages = "; ".join(one.message for one in refusals)
        hints = dict.fromkeys(one.hint for one in refusals if one.hint)
        return Finding(what, False, f"would be refused: {messages}", "; ".join(hints))
    planned = plan.make(settings)
    if planned.notes:
        return Finding(what, False, "would leave out settings", " ".join(planned.notes))
    source = settings.file or "default settings"
    return Finding(what, True, f"works: policy {settings.policy}, {source}")


def _halves(remark: str) -> tuple[str, str]:
    """Return what a remark of kloc status says is wrong, and what to do."""
    problem, found, remedy = remark.partition("; as root: ")
    if found:
        return problem, f"as root: {remedy}"
    problem, _, remedy = remark.partition(". ")
    return problem, remedy


def _with_cpus() -> list[int]:
    return numa.listed(read(f"{numa.NODES.lstrip('/')}/has_cpu") or "")


def _tier_numbers() -> dict[int, int]:
    """Return the number of the tier that each node is in."""
    numbers = {}
    for folder in (system.ROOT / numa.MEMORY_TIERS.lstrip("/")).glob("memory_tier[0-9]*"):
        for node in numa.listed(read(folder / "nodelist") or ""):
            numbers[node] = int(re.sub(r"\D", "", folder.name))
    return numbers


def _is_full(node: int) -> bool:
    """Return whether every zone of a node has less free than its low watermark."""
    zones = [zone for zone in _zones(node) if zone["managed"]]
    return bool(zones) and all(zone["free"] < zone["low"] for zone in zones)


def _free(node: int) -> int:
    """Return the free pages of a node."""
    return sum(zone["free"] for zone in _zones(node))


def _zones(node: int) -> Iterator[dict[str, int]]:
    """Yield the pages that are managed and free in each zone of a node, and its low watermark."""
    text = read(numa.ZONEINFO.lstrip("/")) or ""
    for zone in re.split(r"^(?=Node \d+, zone)", text, flags=re.M):
        if zone.startswith(f"Node {node}, "):
            names = {"free": r"pages free", "low": r" +low", "managed": r" +managed"}
            found = {
                name: re.search(rf"^ *{key} +(\d+)", zone, re.M) for name, key in names.items()
            }
            yield {name: int(match[1]) if match else 0 for name, match in found.items()}


def _named(nodes: Sequence[int]) -> str:
    return f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
