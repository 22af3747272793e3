# SPDX-License-Identifier: GPL-2.0
"""What `kloc doctor` finds out about a system for the commands that servers need."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from kloc.base import numa
from kloc.base.errors import KlocError
from kloc.build import host
from kloc.schemes import damon, sysfs
from kloc.server import system, tiering

TESTED = ("12", "13")
"""The releases of Debian that kloc is tested on."""


@dataclass(frozen=True)
class Finding:
    """One property of the host. If it is not `well`, `remedy` says what to do.

    Without `needed`, some commands work although it is not well.
    """

    what: str
    well: bool
    state: str
    remedy: str = ""
    needed: bool = True


def of_server() -> Iterator[Finding]:
    """Yield what the server commands need of this system and its kernel."""
    release = host.os_release()
    tested = release.get("ID") == "debian" and release.get("VERSION_ID") in TESTED
    remedy = "kloc is tested on Debian 12 and 13; elsewhere, install the packages it needs yourself"
    yield Finding("system", tested, host.description(), "" if tested else remedy, needed=False)
    yield Finding("python", True, f"{sys.version.split()[0]} in {sys.prefix}")
    yield _kernel()
    yield _tiers()
    yield _damon()


def _kernel() -> Finding:
    what = "kernel"
    try:
        tiering.check_kernel()
    except KlocError as error:
        remedy = f"{error.hint}; kloc scheme, tune, heatmap and cold need DAMON only"
        return Finding(what, False, error.message, remedy, needed=False)
    policies = ", ".join(tiering.names())
    return Finding(what, True, f"Linux {os.uname().release}, policies: {policies}")


def _tiers() -> Finding:
    tiers = [nodes for nodes in numa.read_tiers(system.ROOT) if nodes]
    state = "; ".join(f"nodes {nodes}" for nodes in tiers) or "the kernel has no memory tiers"
    if numa.read_fast_and_slow(system.ROOT) is not None:
        return Finding("memory tiers", True, f"fastest first: {state}")
    remedy = (
        "nothing can be promoted or demoted: slow memory, such as that of CXL devices, has to be "
        "online as a node of its own (daxctl reconfigure-device --mode=system-ram), and its HMAT "
        "has to say that it is slower"
    )
    return Finding("memory tiers", False, f"fewer than two: {state}", remedy, needed=False)


def _damon() -> Finding:
    if not damon.path_of(sysfs.KDAMONDS).exists():
        remedy = "boot a kernel with CONFIG_DAMON_SYSFS and CONFIG_DAMON_VADDR (Debian's have them)"
        return Finding("DAMON", False, "this kernel has none", remedy, needed=False)
    if (module := damon.excluding()) is not None:
        return Finding(
            "DAMON",
            False,
            f"{module} has it for itself",
            f"as root: echo N > /sys/module/{module}/parameters/enabled",
            needed=False,
        )
    return Finding("DAMON", True, "for kloc scheme, tune, heatmap and cold (as root)")
