# SPDX-License-Identifier: GPL-2.0
"""Delivers results: as JSON, as an HTML report, as a picture, and as tables on stdout.

The server commands use this module, so it imports the results package only to write a report
or a picture.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kloc.base import files, terminal
from kloc.base.errors import KlocError

STDOUT = Path("-")

FILE_OPTIONS = ("json", "report", "picture", "plot")
"""The options that name a file to write at the end."""

DRAWN = {"report": "kloc.results.report", "picture": "kloc.results.report.picture"}
"""The options that name a file to look at, and the module that writes it.

Importing the module imports the plotting libraries.
"""

PICTURE_SUFFIX = ".svg"


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add --json to a parser or a group of one."""
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="write all results to FILE as JSON; '-', or no FILE, prints them instead of tables",
    )


def add_dry_run(parser: argparse._ActionsContainer) -> None:
    """Add --dry-run to a parser or a group of one."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be run, and run nothing"
    )


def is_stdout(args: argparse.Namespace) -> bool:
    """Return whether the results go to stdout as JSON, so that nothing else may go there."""
    return bool(args.json == STDOUT)


def add_plot(group: argparse._ArgumentGroup, what: str) -> None:
    """Add --plot, which draws `what`; kloc.base.plots.check says whether the file can be."""
    group.add_argument(
        "--plot", type=Path, metavar="FILE", help=f"draw {what} to FILE, a .svg or .png"
    )


def check(args: argparse.Namespace) -> None:
    """Raise KlocError unless all files that the options name can be written.

    Call this before a run starts, so that no result is lost at its end.
    """
    options: dict[Path, str] = {}
    for option in FILE_OPTIONS:
        path: Path | None = getattr(args, option, None)
        if path is None or (option == "json" and path == STDOUT):
            continue
        if option == "picture" and path.suffix != PICTURE_SUFFIX:
            raise KlocError(
                f"--picture {path}: a picture is an {PICTURE_SUFFIX} file",
                f"name the file with this suffix: {path.stem}{PICTURE_SUFFIX}",
            )
        files.check_writable(f"--{option}", path)
        other = options.setdefault(path.resolve(), option)
        if other != option:
            raise KlocError(
                f"--{other} and --{option} name the same file, {path}", "choose two files"
            )


def deliver(
    args: argparse.Namespace,
    content: Any,
    show: Callable[[], None],
    indent: int | None = 1,
    only_report: Mapping[str, Any] | None = None,
) -> None:
    """Write `content` to the files that --json, --report and --picture name, and call `show`.

    `indent` is that of the JSON; None writes one line, for long lists of numbers. `only_report` is
    what the report gets in addition.

    `show` prints tables, and is not called if the JSON goes to stdout. It is called last, because
    its output may go to a program that stops reading, and it is called even if a file could not
    be written: the results may have taken minutes. Below the tables is a link to each file to look
    at.
    """
    written = []
    try:
        files.write_json(args.json, content, indent)
        for option, module in DRAWN.items():
            path: Path | None = getattr(args, option, None)
            if path is not None:
                more = only_report if option == "report" else None
                importlib.import_module(module).write(
                    path, {**content, **more} if more else content
                )
                written.append((option, path))
    finally:
        try:
            if not is_stdout(args):
                show()
        finally:
            for option, path in written:
                terminal.say_link(option, path)
