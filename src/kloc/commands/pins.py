# SPDX-License-Identifier: GPL-2.0
"""`kloc pins`: shows the pinned versions of Debian's packages, and moves them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from kloc.base import c_sources, paths, terminal
from kloc.base.words import plural
from kloc.build import newest, pins, root
from kloc.commands import options, output
from kloc.machine import guest_commands
from kloc.measure import policy, workload

USAGE = ("[options]",)

DESCRIPTION = """\
Show the pinned versions of Debian's packages: those that the figures in README are of. kloc
installs them as long as Debian offers them, and the newest ones otherwise, with a message.

--update pins the versions that Debian has now. What depends on them is then built again, figures
change, and the tables in README have to be measured anew.
"""

EXAMPLES = (
    ("kloc pins", "the kernel's source, QEMU, the compiler"),
    ("kloc pins --update", "pin the versions that Debian has today"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    group = parser.add_argument_group("pins")
    group.add_argument(
        "--update", action="store_true", help="pin the newest versions that Debian offers"
    )
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Show the pins, or move them."""
    output.check(args)
    if args.update:
        # Command.require_files misses an abbreviation of the option.
        paths.require_checkout("kloc pins --update")
    before = pins.read()
    if args.dry_run:
        print(f"would {'rewrite' if args.update else 'show'} {pins.FILE}")
        return 0
    if not args.update:
        output.deliver(args, before, lambda: _show(before))
        return 0
    after = newest.newest(_guest_packages())
    pins.write(after)
    moved = changes(before, pins.read())
    output.deliver(args, moved, lambda: _show_changes(moved))
    return 0


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the packages whose version differs: {"before": version, "after": version}.

    The version of a package that is only in one of the two is None in the other.
    """
    return {
        name: {"before": before.get(name), "after": after.get(name)}
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }


def _guest_packages() -> set[str]:
    """Return what workloads, daemons and kloc's own commands need, and to be compiled."""
    loads = [workload.load(name) for name in workload.names()]
    sources = {workload.SOURCES / name for load in loads for name in load.programs}
    libraries = filter(None, map(c_sources.library, sources))
    daemons = (name for one in policy.names() for name in policy.load(one).packages)
    packages = (name for load in loads for name in load.packages)
    return {*guest_commands.PACKAGES, *packages, *libraries, *daemons}


def _show(versions: Mapping[str, str]) -> None:
    for tool, package in root.VERSIONS_OF.items():
        print(f"{tool:<14}{versions.get(package, 'not pinned')}")
    print(f"{plural(len(versions), 'package')} in {pins.FILE}")


def _show_changes(moved: Mapping[str, Mapping[str, Any]]) -> None:
    for name, versions in moved.items():
        print(f"{name}: {versions['before'] or 'not pinned'} -> {versions['after'] or 'left out'}")
    if not moved:
        print("Debian offers nothing newer")
        return
    terminal.say(
        f"{plural(len(moved), 'version')} moved: commit {pins.FILE.name} on its own, then measure "
        "the tables in README again"
    )
