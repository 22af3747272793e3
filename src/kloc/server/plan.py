# SPDX-License-Identifier: GPL-2.0
"""What `kloc on` writes for a kloc.toml, and what this server lacks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kloc.base import numa
from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError
from kloc.server import (
    cgroups,
    contexts,
    daemons,
    policy_files,
    setting_files,
    system,
    tiering,
)
from kloc.server.config import Config
from kloc.server.policy_files import SELECTED, Policy
from kloc.server.setting_files import DEBUGFS
from kloc.server.system import AS_ROOT, read

Write = tuple[str, str]
"""A file, and what to write to it."""

OFF = ("0", "none", "naive")
"""Values of files that a kernel need not have: without the file, it does what they ask for."""


@dataclass(frozen=True)
class Plan:
    """The writes for a kloc.toml in their order, and notes on what is left out.

    `daemon` is started after the writes.
    """

    policy: str
    writes: tuple[Write, ...]
    notes: tuple[str, ...] = field(default=())
    daemon: Daemon | None = None


def make(config: Config, limits: Mapping[str, str] | None = None) -> Plan:
    """Return what is to be written; `limits` are more files of limits, which win.

    Raises KlocError with the first of `refusals`, if there is one.
    """
    for refusal in refusals(config):
        raise refusal
    policy = policy_files.load(config.policy)
    notes: list[str] = []
    values = _settings(config, policy, notes)
    # After what the policy reads, and before the limits, which exist only under some policies.
    if selected := _selected(policy):
        values[SELECTED] = selected
    values |= dict(limits_of_nodes(config))
    values |= dict(_of_cgroups(config, notes))
    values |= limits or {}
    return Plan(policy.name, tuple(values.items()), tuple(notes), policy.daemon)


def refusals(config: Config) -> Iterator[KlocError]:
    """Yield why this server cannot do what a kloc.toml says; each says what to do about it."""
    policy = policy_files.load(config.policy)
    if policy.elsewhere:
        yield KlocError(
            f"a server cannot have the policy {policy.name}: {policy.elsewhere}",
            f"choose another policy: {', '.join(policy_files.of_servers())}",
        )
        return
    own = needs_own_kernel(config)
    try:
        if own:
            tiering.check_kernel()
    except KlocError as error:
        yield KlocError(f"{own}: {error.message}", error.hint)
        return
    if policy.of_kernel not in (None, *tiering.names()):
        try:
            tiering.check_kernel()
        except KlocError as error:
            yield KlocError(f"policy {policy.of_kernel}: {error.message}", error.hint)
            return
        yield KlocError(
            f"this kernel, Linux {os.uname().release}, has no policy {policy.of_kernel}; it has "
            f"{', '.join(tiering.names())}",
            "choose one of these, or boot a newer kernel",
        )
    yield from _refused_tiers(config, policy)
    yield from _refused_parameters(policy)
    yield from _refused_files(config, policy)
    if policy.daemon is not None:
        yield from daemons.refusals(policy.name, policy.daemon)


def needs_own_kernel(config: Config) -> str:
    """Return the part of a kloc.toml that needs kloc's kernel, "" if none does."""
    policy = policy_files.load(config.policy)
    if (policy.of_kernel or "none") not in OFF:
        return f"policy {policy.name}"
    limits = (*config.node_limits.values(), *config.cgroup_limits.values())
    if any(limit is not None for limit in limits):
        return "limits of fast memory"
    if config.chosen or config.scope == contexts.CHOSEN:
        return "chosen cgroups"
    return ""


def limits_of_nodes(config: Config) -> Iterator[Write]:
    """Yield the writes of the limits of nodes in a kloc.toml."""
    for node, limit in config.node_limits.items():
        yield f"/{tiering.FOLDER}/node{node}/max_kb", limit_text(limit, kib=True)


def limit_text(limit: int | None, kib: bool = False) -> str:
    """Return a limit in bytes as the kernel's files have it, those of nodes in KiB."""
    if limit is None:
        return contexts.NO_LIMIT
    return str(limit >> 10 if kib else limit)


def one_tier(tiers: int) -> KlocError:
    """Return the error that there are not two tiers of memory."""
    what = "all memory is of one tier" if tiers else "the kernel has no tiers of memory"
    return KlocError(
        f"{what} (/{numa.MEMORY_TIERS.lstrip('/')}), so that there is nothing to move to",
        "kloc doctor --server says which nodes there are, and what to do",
    )


def _refused_tiers(config: Config, policy: Policy) -> Iterator[KlocError]:
    tiers = numa.read_fast_and_slow(system.ROOT)
    if tiers is None and (policy.moves or policy.of_kernel not in (None, "none")):
        yield one_tier(len(numa.read_tiers(system.ROOT)))
    for node in config.node_limits:
        if tiers is not None and node not in tiers[0]:
            yield KlocError(
                f"node {node} has no limit of fast memory: it is not in the fast tier",
                f"limit one of the fast nodes: {', '.join(map(str, tiers[0]))}",
            )


def _refused_parameters(policy: Policy) -> Iterator[KlocError]:
    booted = (read("proc/cmdline") or "").split()
    lacking = [one for one in policy.parameters if one not in booted]
    if lacking:
        yield KlocError(
            f"policy {policy.name} needs the kernel parameter {' '.join(lacking)}",
            "add it to GRUB_CMDLINE_LINUX in /etc/default/grub, run update-grub, and reboot",
        )


def _refused_files(config: Config, policy: Policy) -> Iterator[KlocError]:
    """Yield which files do not exist, or may not be written."""
    writes = [*_settings(config, policy, []).items()]
    if selected := _selected(policy):
        writes.append((SELECTED, selected))
    for path, text in writes:
        if not system.exists(path):
            whose = "kloc.toml" if path in config.settings else f"policy {policy.name}"
            similar = setting_files.guess(path) if path in config.settings else ""
            yield KlocError(
                f"{whose} sets {path}, which this kernel, Linux {os.uname().release}, does not "
                f"have{similar}",
                "boot a kernel that has it (kloc's has all that its policies set), or leave it out",
            )
        elif not os.access(system.path_of(path), os.W_OK) and read(path.lstrip("/")) != text:
            yield KlocError(f"no permission to write {path}", AS_ROOT)
            return


def _settings(config: Config, policy: Policy, notes: list[str]) -> dict[str, str]:
    """Return the settings to write, without the selection of a policy.

    Those that a kernel may do without are left out; for some, `notes` gets a note.
    """
    values = {path: text for path, text in policy.values.items() if path != SELECTED}
    values |= config.settings
    if config.scope is not None:
        values[f"/{contexts.SETTINGS}/scope"] = config.scope
    if config.kinds is not None:
        values[f"/{contexts.SETTINGS}/kinds"] = " ".join(config.kinds)
    absent = [path for path in values if not system.exists(path)]
    hidden = [
        path
        for path in absent
        if path.startswith(DEBUGFS)
        and (path not in config.settings or setting_files.is_hidden(path))
    ]
    if hidden:
        notes.append(
            f"{DEBUGFS.rstrip('/')} has no {', '.join(path[len(DEBUGFS) :] for path in hidden)}: "
            "their values stay; mount -t debugfs debugfs /sys/kernel/debug, or boot with debugfs=on"
        )
    for path in absent:
        # Without contexts, whose files get them does not matter.
        if path in hidden or values[path] in OFF or path.startswith(f"/{contexts.SETTINGS}/"):
            del values[path]
    return values


def _selected(policy: Policy) -> str | None:
    """Return the policy of the kernel to select, None if it has none to select from."""
    if policy.of_kernel in (None, *OFF) and not system.path_of(SELECTED).exists():
        return None
    return policy.of_kernel or tiering.NONE


def _of_cgroups(config: Config, notes: list[str]) -> Iterator[Write]:
    """Yield the writes to files of cgroups. Those that do not exist yet get a note in `notes`."""
    wanted = [
        (name, cgroups.MAX, limit_text(limit)) for name, limit in config.cgroup_limits.items()
    ]
    wanted += [(name, cgroups.ENABLED, "1") for name in config.chosen]
    for name, file, text in wanted:
        try:
            yield cgroups.file(cgroups.find(name), file), text
        except KlocError as error:
            notes.append(f"{error.message}, so that {file} is not set; {error.hint}")
