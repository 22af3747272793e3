# SPDX-License-Identifier: GPL-2.0
"""`kloc kernel`: builds kernels for the machine and for servers, and makes a git tree of one."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import UsageError
from kloc.build import kernel, kernel_git, kernel_package, kernel_source, pins
from kloc.commands import options, output

ACTIONS = ("build", "package", "checkout", "export")

USAGE = (
    "[options] build",
    "[options] package [DIR]",
    "[options] checkout DIR",
    "[options] export DIR",
)

DESCRIPTION = """\
build: build the machine's kernel.

package: build Debian packages of a kernel for servers, linux-image and linux-headers, and write \
them to DIR (default: the current directory). It has Debian's configuration, with all modules. \
cloud-amd64 took 45 minutes on two idle cores, or 84 minutes on two busy ones, and 3.6 GiB of \
disk. A build that was stopped continues where it was. docs/server.md says how to install the \
packages.

checkout: create a git tree in DIR, with Debian's source and our patch series as commits.

export: write the commits of the tree in DIR back into kernel/patches and kernel/files.
"""

EXAMPLES = (
    ("kloc kernel package", "a kernel for servers, in the current directory"),
    ("kloc kernel checkout ~/linux", "edit and commit there, then:"),
    ("kloc kernel export ~/linux", "take the commits over"),
)

INSTALL = """\
To install them, as root: apt install {image} {headers}
Then reboot. The kernel has no signature for Secure Boot, as Debian's key is Debian's alone: turn \
Secure Boot off, or sign the kernel with a key of your own (docs/server.md, "The kernel")."""
"""What the user has to know of packages that are complete."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "action", metavar="ACTION", choices=ACTIONS, help=f"what to do: {', '.join(ACTIONS)}"
    )
    group.add_argument(
        "directory",
        nargs="?",
        type=Path,
        metavar="DIR",
        help="the git tree, or the directory of the packages",
    )
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--variant",
        metavar="VARIANT",
        choices=sorted(kernel.VARIANTS),
        help=f"build: the configuration: {', '.join(sorted(kernel.VARIANTS))} (default: machine)",
    )
    group.add_argument(
        "--flavour",
        metavar="FLAVOUR",
        choices=kernel_package.FLAVOURS,
        help="package: Debian's configuration: cloud-amd64, for virtual machines, or amd64, for "
        "all hardware, with four times as many modules (default: cloud-amd64)",
    )
    options.add(parser.add_argument_group("output"), "json", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    _check(args)
    output.check(args)
    if args.action == "build":
        return _build(args)
    if args.action == "package":
        return _package(args)
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


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError if the action does not go with the other arguments."""
    forms = "; ".join(f"kloc kernel {form}" for form in USAGE)
    if args.action == "build" and args.directory is not None:
        raise UsageError("kernel build takes no directory", forms)
    if args.action in ("checkout", "export"):
        if args.directory is None:
            raise UsageError(f"kernel {args.action} needs a directory", forms)
        if args.json is not None:
            raise UsageError(
                "--json: only kernel build and kernel package have results", "leave it out"
            )
    for option, action in (("variant", "build"), ("flavour", "package")):
        if getattr(args, option) is not None and args.action != action:
            raise UsageError(f"--{option} is an option of kernel {action}", "leave it out")


def _build(args: argparse.Namespace) -> int:
    variant = args.variant or "machine"
    if args.dry_run:
        print(f"would build the {variant} kernel of series {kernel.series_hash(variant)}")
        return 0
    built = kernel.build(variant)
    content = {name: str(value) for name, value in asdict(built).items()}
    output.deliver(
        args,
        content,
        lambda: print(f"{built.bzimage}: Linux {built.release}, series {built.series}"),
    )
    return 0


def _package(args: argparse.Namespace) -> int:
    flavour = args.flavour or kernel_package.FLAVOURS[0]
    directory = (args.directory or Path()).absolute()
    if args.dry_run:
        _plan_packages(args, flavour, directory)
        return 0
    built = kernel_package.build(flavour, directory)
    output.deliver(args, built.described(), lambda: print(built.image, built.headers, sep="\n"))
    terminal.say(INSTALL.format(image=built.image, headers=built.headers))
    return 0


def _plan_packages(args: argparse.Namespace, flavour: str, directory: Path) -> None:
    """Print the names of the packages that would be written; in JSON, None if they are unknown."""
    packages = kernel_package.planned(flavour, directory)
    if packages is not None:
        output.deliver(
            args,
            packages.described(),
            lambda: print("would write", packages.image, packages.headers, sep="\n"),
        )
        return
    source = pins.read()["linux-source-6.12"]
    unknown = dict.fromkeys(("image", "headers", "release", "version"))
    content = {**unknown, "debian": source, "flavour": flavour, "series": None}
    output.deliver(
        args,
        content,
        lambda: print(
            f"would write the packages linux-image and linux-headers of Linux {source} with kloc, "
            f"flavour {flavour}, to {directory}; their names depend on Debian's configuration, "
            "which is not in the cache yet"
        ),
    )
