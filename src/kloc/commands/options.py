# SPDX-License-Identifier: GPL-2.0
"""The options that several commands share: how each is called, what it takes, what is refused.

A command says `options.add(parser, "policy", "machine", ...)`, and reads what was chosen with the
functions below.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.results import document

OUTPUTS = ("json", "report", "plot")
"""The options that name a file which is written at the end."""

ALLOWED = "name one that you may use, or run kloc as who may"

SEED_MAX = (1 << 32) - 1

_Parser = argparse._ActionsContainer
Names = Callable[[], Iterable[str]]


def add(parser: _Parser, *names: str) -> None:
    """Add the options of these names (the keys of ADDERS) to a parser or a group of one."""
    for name in names:
        ADDERS[name](parser)


def completes(action: argparse.Action, names: Names, suffix: str = "") -> None:
    """Let a shell complete the action's value: `names`, and files that end in `suffix`.

    What stands before a comma stays: `--policies stock,t<TAB>`.
    """

    def complete(prefix: str, **_: object) -> list[str]:
        before = prefix[: prefix.rfind(",") + 1]
        return [before + name for name in names()] + (_files(prefix, suffix) if suffix else [])

    action.completer = complete  # type: ignore[attr-defined]


def size(args: argparse.Namespace) -> workload.Size:
    """Return the size that --quick, --long or neither asks for."""
    return workload.QUICK if args.quick else workload.LONG if args.long else workload.FULL


def machine(args: argparse.Namespace) -> profile.Profile:
    """Return the machine that --machine, --fast and --slow-bandwidth (one value each) describe."""
    return profile.load(args.machine).varied(args.fast, args.slow_bandwidth)


def machines(args: argparse.Namespace) -> list[profile.Profile]:
    """Return every combination of --machine, --fast and --slow-bandwidth (several values each)."""
    base = profile.load(args.machine)
    every = [base.varied(fast, slow) for fast in args.fast for slow in args.slow_bandwidth]
    return list(dict.fromkeys(every))


def copies(args: argparse.Namespace) -> tuple[Path, ...]:
    """Return the absolute paths that --copy names; KlocError for one that is not there."""
    return tuple(existing(path) for path in args.copy)


def existing(path: Path) -> Path:
    """Return the path, made absolute; KlocError if nothing is there, or nothing can be seen."""
    try:
        if not path.exists():
            raise KlocError(f"there is no {path}")
    except PermissionError as error:
        raise KlocError(f"{path} cannot be read: {error.strerror}", ALLOWED) from error
    return path.absolute()


def given(args: argparse.Namespace, defaults: Mapping[str, object]) -> list[str]:
    """Return those of the options in `defaults` that were given, as a person writes them."""
    return [
        f"--{name.replace('_', '-')}"
        for name, default in defaults.items()
        if getattr(args, name) != default
    ]


def refuse(args: argparse.Namespace, defaults: Mapping[str, object], why: str, hint: str) -> None:
    """Raise KlocError, with the options and `why`, if any of `defaults` was given."""
    if wrong := given(args, defaults):
        raise KlocError(f"{', '.join(wrong)}: {why}", hint)


def check_outputs(args: argparse.Namespace) -> None:
    """Raise KlocError unless all files that the command is to write can be written.

    To be called before a run starts: nobody should learn that after ten minutes.
    """
    seen: dict[Path, str] = {}
    for name in OUTPUTS:
        path: Path | None = getattr(args, name, None)
        if path is None:
            continue
        _check_target(f"--{name}", path)
        other = seen.setdefault(path.resolve(), name)
        if other != name:
            raise KlocError(f"--{other} and --{name} name the same file, {path}")


def write_outputs(args: argparse.Namespace, content: Mapping[str, Any]) -> None:
    """Write what --json and --report ask for; `content` is a result file's content."""
    if args.json is not None:
        document.write(args.json, content)
    if args.report is not None:
        # It brings the plotting libraries along.
        importlib.import_module("kloc.results.report").write(args.report, content)


def deliver(
    args: argparse.Namespace, document: Mapping[str, Any], show: Callable[[], None]
) -> None:
    """Write what --json and --report ask for, then `show` it, whatever became of the files.

    What is shown may be piped into a program that does not read all of it, and took minutes.
    """
    try:
        write_outputs(args, document)
    finally:
        show()


def _check_target(option: str, path: Path) -> None:
    folder = path.absolute().parent
    try:
        if not folder.is_dir():
            raise KlocError(f"{option} {path}: there is no folder {folder}", "make it first")
        # Before `path` itself: in a closed folder it cannot even be looked at.
        if not os.access(folder, os.W_OK | os.X_OK):
            raise KlocError(f"{option} {path}: {folder} cannot be written to", ALLOWED)
        if path.is_dir():
            raise KlocError(f"{option} {path}: that is a folder", "name a file in it")
        # A file is written beside it and renamed, which would replace a device.
        if path.exists() and not path.is_file():
            raise KlocError(f"{option} {path}: that is no regular file", "name another file")
    except PermissionError as error:
        raise KlocError(f"{option} {path}: {error.strerror}", ALLOWED) from error


def _files(prefix: str, suffix: str) -> list[str]:
    from argcomplete.completers import FilesCompleter

    return list(FilesCompleter([suffix.lstrip(".")])(prefix))


def _policy(parser: _Parser) -> None:
    action = parser.add_argument(
        "--policy",
        default=policy.DEFAULT,
        metavar="P",
        help="the policy (default: %(default)s; kloc policies lists them)",
    )
    completes(action, policy.names)


def _machine(parser: _Parser) -> None:
    action = parser.add_argument(
        "--machine",
        default=profile.DEFAULT,
        metavar="M",
        help="the machine, or a profile of your own that ends in .toml "
        "(default: %(default)s; kloc machines lists them)",
    )
    completes(action, profile.names, ".toml")


def _variant(parser: _Parser) -> None:
    parser.add_argument(
        "--fast", type=_factor, metavar="F", help="so many times the fast memory, such as 1/2 or 2"
    )
    parser.add_argument(
        "--slow-bandwidth",
        type=_fraction,
        metavar="F",
        help="slow memory with this fraction of the bandwidth of fast memory, such as 1/8",
    )


def _variants(parser: _Parser) -> None:
    parser.add_argument(
        "--fast",
        type=lambda text: _several(text, _factor),
        default=(None,),
        metavar="F,F",
        help="also vary the machine: so many times the fast memory, such as 1/2,1,2,4",
    )
    parser.add_argument(
        "--slow-bandwidth",
        type=lambda text: _several(text, _fraction),
        default=(None,),
        metavar="F,F",
        help="and slow memory with these fractions of the bandwidth of fast memory, "
        "such as 1/8,1/4,1/2; every combination is measured, with bounds of its own",
    )


def _several(text: str, one: Callable[[str], Fraction]) -> tuple[Fraction, ...]:
    return tuple(one(part) for part in text.split(","))


def _factor(text: str) -> Fraction:
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no positive number such as 2, 1/2 or 0.5")
    return value


def _fraction(text: str) -> Fraction:
    value = _factor(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"'{text}': slow memory has no more than fast, at most 1")
    return value


def _seed(parser: _Parser) -> None:
    parser.add_argument(
        "--seed",
        type=_seed_number,
        default=1,
        metavar="N",
        help="what decides all that is left to chance (default: %(default)s)",
    )


def _seed_number(text: str) -> int:
    if not text.isdecimal() or int(text) > SEED_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 to {SEED_MAX}")
    return int(text)


def _length(parser: _Parser) -> None:
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--quick", action="store_true", help="a quarter of the load and of the measured region"
    )
    length.add_argument("--long", action="store_true", help="ten times the measured region")


def _packages(parser: _Parser) -> None:
    parser.add_argument(
        "--packages",
        type=comma_list,
        default=(),
        metavar="A,B",
        help="Debian packages that the machine needs",
    )


def comma_list(text: str) -> tuple[str, ...]:
    """Return the names in an option's value, without blanks."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _copy(parser: _Parser) -> None:
    parser.add_argument(
        "--copy",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a file or folder to have at its path there; may be repeated",
    )


def _json(parser: _Parser) -> None:
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all that was measured there as well"
    )


def _report(parser: _Parser) -> None:
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report there, one HTML file"
    )


def _follow(parser: _Parser) -> None:
    parser.add_argument(
        "--follow",
        action="store_true",
        help="show pages, migrations and stalls while it runs; the figures are the same",
    )


def _dry_run(parser: _Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, no more")


ADDERS: Mapping[str, Callable[[_Parser], None]] = {
    "policy": _policy,
    "machine": _machine,
    "variant": _variant,
    "variants": _variants,
    "seed": _seed,
    "length": _length,
    "packages": _packages,
    "copy": _copy,
    "json": _json,
    "report": _report,
    "follow": _follow,
    "dry-run": _dry_run,
}
