# SPDX-License-Identifier: GPL-2.0
"""`kloc kernel`: build the machine's kernel, and work on it as a git tree."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from kloc.base import terminal
from kloc.build import kernel, kernel_git, kernel_source

NAME = "kernel"
HELP = "build the machine's kernel, or work on it as a git tree"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `build`, `checkout` and `export` with their options."""
    parser.add_argument(
        "action",
        choices=("build", "checkout", "export"),
        help="build: compile it; checkout: make a git tree of it in DIR, the series as commits; "
        "export: turn the commits of the tree in DIR into kernel/patches and kernel/files",
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="the git tree")
    parser.add_argument(
        "--variant",
        choices=sorted(kernel.VARIANTS),
        default="machine",
        help="the configuration to build (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, no more")
    parser.add_argument("--json", action="store_true", help="describe the built kernel as JSON")
    parser.set_defaults(usage_error=parser.error)


def run(args: argparse.Namespace) -> int:
    """Do `args.action`."""
    if (args.folder is None) != (args.action == "build"):
        args.usage_error("build takes no DIR; checkout and export take one")
    if args.action == "build":
        return _build(args)
    act, what = {
        "checkout": (kernel_git.checkout, f"make a git tree of the kernel in {args.folder}"),
        "export": (kernel_git.export, f"replace {kernel_source.KERNEL}/patches and files"),
    }[args.action]
    if args.dry_run:
        print(f"would {what}")
        return 0
    act(args.folder.absolute())
    terminal.say(f"done: {args.folder}")
    return 0


def _build(args: argparse.Namespace) -> int:
    if args.dry_run:
        print(f"would build the {args.variant} kernel of series {kernel.series_hash(args.variant)}")
        return 0
    built = kernel.build(args.variant)
    if args.json:
        print(json.dumps({name: str(value) for name, value in asdict(built).items()}, indent=1))
    else:
        print(f"{built.bzimage}: Linux {built.release}, series {built.series}")
    return 0
