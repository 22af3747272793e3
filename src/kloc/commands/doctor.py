# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor`: what is there, what is missing, what to do about it."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from kloc.base import cache, terminal
from kloc.base.errors import KlocError
from kloc.build import bootstrap, host, root
from kloc.commands import inventory

NAME = "doctor"
HELP = "say what is there, what is missing and what to do about it"

MEMORY_NEEDED = 6 << 30
DISK_NEEDED = 12 << 30
TEMPORARY_NEEDED = 3 << 30
"""Bytes: for a machine and what runs beside it; for all that is built; for a root being made."""

OLD, UNUSED = "old", "all-unused"
"""What --prune removes."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; where it is not `well`, `remedy` says what to do."""

    what: str
    well: bool
    state: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kloc doctor`."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--prune",
        nargs="?",
        const=OLD,
        choices=(OLD, UNUSED),
        help="remove from the cache what nobody has used for "
        f"{inventory.OLD_DAYS} days ({OLD}, the default), or what this checkout does not use "
        f"({UNUSED}); never what is in use",
    )
    parser.add_argument("--dry-run", action="store_true", help="with --prune: remove nothing")


def run(args: argparse.Namespace) -> int:
    """Print the findings, or prune; return 1 if there is a finding that is not well."""
    if args.dry_run and not args.prune:
        raise KlocError("--dry-run goes with --prune", "kloc doctor changes nothing")
    if args.prune:
        if args.json:
            raise KlocError("--json goes with the findings, not with --prune", "leave one out")
        return _prune(args.prune, args.dry_run)
    items = inventory.items()
    sizes = inventory.sizes()
    unused = _unused(items)
    findings = list(_findings(sum(sizes.values())))
    if args.json:
        document = {
            "cache": str(cache.directory()),
            "findings": [asdict(finding) for finding in findings],
            "cache_bytes": sizes,
            "cache_unused_bytes": unused,
        }
        print(json.dumps(document, indent=1))
    else:
        _print(findings, sizes, unused)
    return 0 if all(finding.well for finding in findings) else 1


def _prune(which: str, dry_run: bool) -> int:
    if which == UNUSED:
        inventory.check()
    chosen = [
        item
        for item in inventory.items()
        if (not item.used_here if which == UNUSED else item.days > inventory.OLD_DAYS)
    ]
    for item in chosen:
        print(
            f"{_human(item.size):>8}  {item.kind} {item.path.name}, used {item.days:.0f} days ago"
        )
    if not chosen:
        print("there is nothing to remove")
    if dry_run or not chosen:
        return 0
    total = _human(sum(item.size for item in chosen))
    if not terminal.ask(
        f"Remove these {len(chosen)}, {total} in all?", "say --yes to have them removed"
    ):
        return 0
    kept = [item for item in chosen if not cache.discard(item.path)]
    for item in kept:
        print(f"in use, and still there: {item.kind} {item.path.name}")
    removed = sum(item.size for item in chosen) - sum(item.size for item in kept)
    print(f"removed {_human(removed)}")
    return 0


def _unused(items: Sequence[inventory.Item]) -> dict[str, int]:
    """Return the bytes of each kind that this checkout does not use."""
    unused: dict[str, int] = {}
    for item in items:
        if not item.used_here:
            unused[item.kind] = unused.get(item.kind, 0) + item.size
    return unused


def _findings(cached: int) -> Iterator[Finding]:
    yield _system()
    yield Finding("python", True, f"{sys.version.split()[0]} in {sys.prefix}")
    yield _packages()
    yield _checked("namespaces", root.check_namespaces, "can be made")
    if os.geteuid() != 0:
        yield _checked("user ids", bootstrap.check_subordinate_ids, "there for a root to be made")
    yield _checked("workloads and machines", inventory.check, "can be read")
    yield Finding("cores", True, str(os.cpu_count()))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield _enough("memory", memory, MEMORY_NEEDED, "use a machine with 8 GiB")
    space = shutil.disk_usage(cache.directory()).free + cached
    yield _enough("disk for the cache", space, DISK_NEEDED, "make room, or say --cache DIR")
    temporary = shutil.disk_usage(bootstrap.TEMPORARY).free
    yield _enough(f"disk in {bootstrap.TEMPORARY}", temporary, TEMPORARY_NEEDED, "make room")


def _system() -> Finding:
    release = host.os_release()
    known = release.get("ID") == "debian" and release.get("VERSION_ID") in ("12", "13")
    remedy = "kloc is tested on Debian 12 and 13; elsewhere, install what it needs by hand"
    return Finding("system", known, host.description(), "" if known else remedy)


def _packages() -> Finding:
    missing = host.missing()
    if not missing:
        return Finding("packages", True, ", ".join(host.PACKAGES))
    remedy = f"kloc will ask to install them, or: apt-get install {' '.join(missing)}"
    return Finding("packages", False, f"missing: {', '.join(missing)}", remedy)


def _checked(what: str, check: Callable[[], None], state: str) -> Finding:
    try:
        check()
    except KlocError as error:
        return Finding(what, False, error.message, error.hint or "")
    return Finding(what, True, state)


def _enough(what: str, there_is: int, needed: int, remedy: str) -> Finding:
    state = f"{_human(there_is)}, {_human(needed)} needed"
    return Finding(what, there_is >= needed, state, "" if there_is >= needed else remedy)


def _print(findings: list[Finding], sizes: dict[str, int], unused: dict[str, int]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False)
    for finding in findings:
        mark = "[green]ok[/]" if finding.well else "[red]!![/]"
        table.add_row(mark, finding.what, finding.state)
        if finding.remedy:
            table.add_row("", "", f"[yellow]{finding.remedy}[/]")
    out = terminal.stdout()
    out.print(table)
    total, spare = _human(sum(sizes.values())), _human(sum(unused.values()))
    out.print(
        f"\n{total} in {cache.directory()}, {spare} of it not used by this checkout "
        "(kloc doctor --prune):",
        markup=False,
    )
    contents = Table(box=None, show_header=False)
    for kind, size in sizes.items():
        spare = f"{_human(unused[kind])} not used" if unused.get(kind) else ""
        contents.add_row(_human(size), kind, inventory.CONTENTS[kind], spare)
    out.print(contents if sizes else "  nothing yet")


def _human(size: int) -> str:
    if size < 1 << 30:
        return f"{size / (1 << 20):.0f} MiB"
    return f"{size / (1 << 30):.1f} GiB"
