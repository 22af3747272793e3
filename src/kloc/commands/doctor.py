# SPDX-License-Identifier: GPL-2.0
"""`kloc doctor`: what is there, what is missing, what to do about it."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kloc import cache, debian, root, ui
from kloc.errors import KlocError

NAME = "doctor"
HELP = "say what is there, what is missing and what to do about it"

MEMORY_NEEDED = 6 << 30
DISK_NEEDED = 12 << 30
TEMPORARY_NEEDED = 3 << 30
"""Bytes: for a machine and what runs beside it; for all that is built; for a root being made."""

CONTENTS = {
    "python": "kloc's own Python environment",
    "root": "the Debian root with compiler, kernel source and QEMU",
    "linux": "the kernel's source and objects",
    "linux-git": "the kernel's source as a git repository",
    "ccache": "compiled files",
    "kernel": "built kernels",
    "plugin": "built timing models",
    "guest-debian": "Debian packages for the machine",
    "guest": "disk images for the machine",
    "browser": "the Debian root with Chromium that reports are tested in",
    "mypy": "what the type checker remembers",
    "scratch": "runs under way, and the last ones that failed",
}
"""The kinds of things in the cache folder."""


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


def run(args: argparse.Namespace) -> int:
    """Print the findings; return 1 if there is one that is not well."""
    sizes = _sizes()
    findings = list(_findings(sum(sizes.values())))
    if args.json:
        document = {
            "cache": str(cache.folder()),
            "findings": [asdict(finding) for finding in findings],
            "cache_bytes": sizes,
        }
        print(json.dumps(document, indent=1))
    else:
        _print(findings, sizes)
    return 0 if all(finding.well for finding in findings) else 1


def _findings(cached: int) -> Iterator[Finding]:
    yield _system()
    yield Finding("python", True, f"{sys.version.split()[0]} in {sys.prefix}")
    yield _packages()
    yield _checked("namespaces", root.check_namespaces, "can be made")
    if os.geteuid() != 0:
        yield _checked("user ids", debian.check_subordinate_ids, "there for a root to be made")
    yield Finding("cores", True, str(os.cpu_count()))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield _enough("memory", memory, MEMORY_NEEDED, "use a machine with 8 GiB")
    space = shutil.disk_usage(cache.folder()).free + cached
    yield _enough("disk for the cache", space, DISK_NEEDED, "make room, or say --cache DIR")
    temporary = shutil.disk_usage(debian.TEMPORARY).free
    yield _enough(f"disk in {debian.TEMPORARY}", temporary, TEMPORARY_NEEDED, "make room")


def _system() -> Finding:
    release = debian.os_release()
    known = release.get("ID") == "debian" and release.get("VERSION_ID") in ("12", "13")
    remedy = "kloc is tested on Debian 12 and 13; elsewhere, install what it needs by hand"
    return Finding("system", known, debian.description(), "" if known else remedy)


def _packages() -> Finding:
    missing = debian.missing()
    if not missing:
        return Finding("packages", True, ", ".join(debian.PACKAGES))
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


def _sizes() -> dict[str, int]:
    """Return the bytes that each kind of thing takes in the cache folder."""
    there = [cache.folder() / kind for kind in CONTENTS if (cache.folder() / kind).is_dir()]
    if not there:
        return {}
    du = ["du", "--summarize", "--block-size=1", *map(str, there)]
    lines = subprocess.run(du, capture_output=True, text=True, check=False).stdout.splitlines()
    return {Path(path).name: int(size) for size, path in (line.split("\t") for line in lines)}


def _print(findings: list[Finding], sizes: dict[str, int]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False)
    for finding in findings:
        mark = "[green]ok[/]" if finding.well else "[red]!![/]"
        table.add_row(mark, finding.what, finding.state)
        if finding.remedy:
            table.add_row("", "", f"[yellow]{finding.remedy}[/]")
    out = ui.console_out()
    out.print(table)
    out.print(f"\nIn {cache.folder()} (any of it may be removed while no kloc runs):")
    contents = Table(box=None, show_header=False)
    for kind, size in sizes.items():
        contents.add_row(_human(size), kind, CONTENTS[kind])
    out.print(contents if sizes else "  nothing yet")


def _human(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
