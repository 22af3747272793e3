# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor`: checks this host, and shows and prunes the cache directory."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kloc.base import cache, environment, paths, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.base.sizes import rounded_size
from kloc.base.words import plural
from kloc.build import bootstrap, host, root, space
from kloc.commands import doctor_server, output

if TYPE_CHECKING:
    from kloc.commands.inventory import Item

MEMORY_NEEDED = 6 << 30
"""Bytes: a machine and what runs with it."""

TESTED = ("12", "13")
"""The releases of Debian that kloc is tested on."""

OLD, UNUSED = "old", "all-unused"
"""The values of --prune."""

USAGE = ("[--json FILE]", "--server [--json FILE]", "--prune [old|all-unused] [--dry-run]")

DESCRIPTION = """\
List what this host has and lacks, with what to do about it, and the size of the cache directory.
"--" marks what only some commands need. The exit status is 1 if something else is missing.

With --server, check whether this system can tier its memory, and say what is in the way
(docs/server.md, "What can be wrong").

With --prune, delete cache entries, after a list and a question. Entries that a running kloc uses
stay.
"""

EXAMPLES = (
    ("kloc doctor", "check this host"),
    ("kloc doctor --server", "check kernel and tiers"),
    ("kloc doctor --prune all-unused --dry-run", "list unused cache entries"),
)


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    doctor_server.add_arguments(parser)
    output.add_json(parser.add_argument_group("output"))
    group = parser.add_argument_group("cache directory")
    group.add_argument(
        "--prune",
        nargs="?",
        const=OLD,
        choices=(OLD, UNUSED),
        metavar="WHICH",
        help=f"delete cache entries that nobody has used for {cache.OLD_DAYS} days ({OLD}, "
        f"the default), or that this checkout does not use ({UNUSED})",
    )
    group.add_argument("--dry-run", action="store_true", help="with --prune: delete nothing")


def run(args: argparse.Namespace) -> int:
    """Print the findings and return 1 if one is not well; or prune the cache."""
    if args.dry_run and not args.prune:
        raise UsageError("--dry-run is for --prune", "without it, kloc doctor changes nothing")
    if args.server:
        if args.prune:
            raise UsageError("--server changes nothing", "leave --prune out")
        output.check(args)
        return doctor_server.show(args)
    if args.prune:
        if args.json is not None:
            raise UsageError("--json is for the findings, not for --prune", "leave one of them out")
        paths.require_laboratory("kloc doctor --prune")
        environment.require("measure", "kloc doctor --prune")
        return _prune(args.prune, args.dry_run)
    output.check(args)
    found = [_system(), Finding("python", True, f"{sys.version.split()[0]} in {sys.prefix}")]
    if (lacking := _laboratory()) is not None:
        found.append(lacking)
        content: dict[str, Any] = {"findings": [asdict(finding) for finding in found]}
        output.deliver(args, content, lambda: _print(found))
        return _status(found)
    from kloc.commands import inventory

    sizes = inventory.sizes()
    unused = _unused_sizes(inventory.items())
    found += _findings(sum(sizes.values()))
    content = {
        "cache": str(cache.directory()),
        "findings": [asdict(finding) for finding in found],
        "cache_bytes": sizes,
        "cache_unused_bytes": unused,
    }

    def show() -> None:
        _print(found)
        _print_cache(sizes, unused)

    output.deliver(args, content, show)
    return _status(found)


def _laboratory() -> Finding | None:
    """Return the finding that the simulated machine cannot be used at all, None if it can.

    What it needs is installed if kloc runs in an environment of its own.
    """
    what = "machine"
    try:
        paths.require_laboratory("kloc compare")
        environment.require("measure", "kloc doctor" if paths.is_checkout() else "kloc compare")
    except KlocError as error:
        if paths.is_checkout():
            raise
        return Finding(what, False, error.message, error.hint or "", needed=False)
    return None


def _status(found: Sequence[Finding]) -> int:
    return 0 if all(finding.well or not finding.needed for finding in found) else 1


def _prune(which: str, dry_run: bool) -> int:
    from kloc.commands import inventory

    if which == UNUSED:
        inventory.check()
    chosen = [
        item
        for item in inventory.items()
        if (not item.used_here if which == UNUSED else item.days > cache.OLD_DAYS)
    ]
    for item in chosen:
        size, name = rounded_size(item.size), f"{item.kind} {item.path.name}"
        print(f"{size:>8}  {name}, last used {plural(round(item.days), 'day')} ago")
    if not chosen:
        print("there is nothing to delete")
    if dry_run or not chosen:
        return 0
    total = rounded_size(sum(item.size for item in chosen))
    entries = "this cache entry" if len(chosen) == 1 else f"these {len(chosen)} cache entries"
    if not terminal.ask(f"Delete {entries}, {total} in total?", "--yes deletes them"):
        return 0
    kept = [item for item in chosen if not cache.discard(item.path)]
    for item in kept:
        print(f"in use, not deleted: {item.kind} {item.path.name}")
    deleted = sum(item.size for item in chosen) - sum(item.size for item in kept)
    print(f"deleted {rounded_size(deleted)}")
    return 0


def _unused_sizes(items: Sequence[Item]) -> dict[str, int]:
    """Return the bytes of each kind that this checkout does not use."""
    unused: dict[str, int] = {}
    for item in items:
        if not item.used_here:
            unused[item.kind] = unused.get(item.kind, 0) + item.size
    return unused


def _findings(cached: int) -> Iterator[Finding]:
    """Yield what the machine needs; `cached` are the bytes that the cache directory takes."""
    from kloc.commands import inventory

    yield _packages()
    yield _checked("namespaces", root.check_namespaces, "can be created")
    if os.geteuid() != 0:
        yield _checked("user ids", bootstrap.check_subordinate_ids, "enough for a Debian root")
    yield _checked("workloads and machines", inventory.check, "all files are valid")
    yield Finding("cores", True, str(os.cpu_count()))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield _enough("memory", memory, MEMORY_NEEDED, "use a host with 8 GiB")
    free = shutil.disk_usage(cache.directory()).free + cached
    yield _enough(
        "disk for the cache",
        free,
        space.DISK_NEEDED,
        "free disk space, or choose another directory with --cache DIR",
    )
    temporary = shutil.disk_usage(bootstrap.TEMPORARY).free
    yield _enough(
        f"disk in {bootstrap.TEMPORARY}", temporary, space.TEMPORARY_NEEDED, "free disk space there"
    )


def _system() -> Finding:
    release = host.os_release()
    tested = release.get("ID") == "debian" and release.get("VERSION_ID") in TESTED
    remedy = "kloc is tested on Debian 12 and 13; elsewhere, install the packages it needs yourself"
    return Finding("system", tested, host.description(), "" if tested else remedy, needed=False)


def _packages() -> Finding:
    missing = host.missing()
    if not missing:
        return Finding("packages", True, ", ".join(host.PACKAGES))
    remedy = f"kloc will ask to install them; or run: apt-get install {' '.join(missing)}"
    return Finding("packages", False, f"missing: {', '.join(missing)}", remedy)


def _checked(what: str, check: Callable[[], None], state: str) -> Finding:
    """Return the finding of a function that raises KlocError unless all is well."""
    try:
        check()
    except KlocError as error:
        return Finding(what, False, error.message, error.hint or "")
    return Finding(what, True, state)


def _enough(what: str, available: int, needed: int, remedy: str) -> Finding:
    state = f"{rounded_size(available)}, {rounded_size(needed)} needed"
    return Finding(what, available >= needed, state, "" if available >= needed else remedy)


def _print(found: Sequence[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    for finding in found:
        bad = Text("!!", "red") if finding.needed else Text("--", "yellow")
        mark = Text("ok", "green") if finding.well else bad
        table.add_row(mark, finding.what, Text(finding.state))
        if finding.remedy:
            table.add_row("", "", Text(finding.remedy, "yellow"))
    terminal.lists().print(table)


def _print_cache(sizes: dict[str, int], unused: dict[str, int]) -> None:
    from rich.table import Table

    from kloc.commands import inventory

    console = terminal.lists()
    total, spare = rounded_size(sum(sizes.values())), rounded_size(sum(unused.values()))
    console.print(
        f"\n{total} in {cache.directory()}, of which this checkout does not use {spare} "
        "(kloc doctor --prune):",
        markup=False,
        soft_wrap=True,
    )
    if not sizes:
        console.print("  nothing yet")
        return
    contents = Table(box=None, show_header=False)
    for kind, size in sizes.items():
        spare = f"{rounded_size(unused[kind])} not used" if unused.get(kind) else ""
        contents.add_row(rounded_size(size), kind, inventory.CONTENTS[kind], spare)
    console.print(contents)
