# SPDX-License-Identifier: GPL-2.0
"""`kloc kernel`: builds the machine's kernel, and turns it into a git tree and back."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from kloc.base import paths, terminal
from kloc.base.errors import UsageError
from kloc.build import kernel, kernel_git, kernel_source
from kloc.commands import options, output

ACTIONS = ("build", "checkout", "export")

USAGE = ("[options] build", "[options] checkout DIR", "[options] export DIR")

DESCRIPTION = """\
build: build the machine's kernel.

checkout: create a git tree in DIR, with Debian's source and our patch series as commits.

export: write the commits of the tree in DIR back into kernel/patches and kernel/files.
"""

EXAMPLES = (
    ("kloc kernel build", "what kloc compare does when it is needed"),
    ("kloc kernel checkout ~/linux", "edit and commit there, then:"),
    ("kloc kernel export ~/linux", "take the commits over"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "action", metavar="ACTION", choices=ACTIONS, help=f"what to do: {', '.join(ACTIONS)}"
    )
    group.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="the git tree")
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--variant",
        metavar="VARIANT",
        choices=sorted(kernel.VARIANTS),
        default="machine",
        help=f"the configuration: {', '.join(sorted(kernel.VARIANTS))} (default: %(default)s)",
    )
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    if (args.directory is None) != (args.action == "build"):
        raise UsageError(
            "kernel build takes no directory"
            if args.action == "build"
            else f"kernel {args.action} needs a directory",
            "; ".join(f"kloc kernel {form}" for form in USAGE),
        )
    output.check(args)
    if args.action == "build":
        return _build(args)
    if args.json is not None:
        raise UsageError("--json: only kernel build has results", "leave it out")
    if args.action == "export":
        paths.require_checkout("kloc kernel export")
    act, task = {
        "checkout": (kernel_git.checkout, f"create a git tree of the kernel in {args.directory}"),
        "export": (kernel_git.export, f"replace {kernel_source.KERNEL}/patches and files"),
    }[args.action]
    if args.dry_run:
        print(f"would {task}")
        return 0
    act(args.directory.absolute())
    terminal.say(f"done: {args.directory}")
    return 0


def _build(args: argparse.Namespace) -> int:
    if args.dry_run:
        print(f"would build the {args.variant} kernel of series {kernel.series_hash(args.variant)}")
        return 0
    built = kernel.build(args.variant)
    content = {name: str(value) for name, value in asdict(built).items()}
    output.deliver(
        args,
        content,
        lambda: print(f"{built.bzimage}: Linux {built.release}, series {built.series}"),
    )
    return 0
