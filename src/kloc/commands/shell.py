# SPDX-License-Identifier: GPL-2.0
"""kloc shell: a shell inside the machine, set up for a policy; nothing is measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from kloc import machine, policy, profile, ui
from kloc.errors import KlocError
from kloc.machine import Job

NAME = "shell"
HELP = "a shell inside the machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "--policy", default=policy.DEFAULT, metavar="P", help="default: %(default)s"
    )
    parser.add_argument(
        "--machine", default=profile.DEFAULT, metavar="M", help="default: %(default)s"
    )
    parser.add_argument(
        "--packages", default="", metavar="A,B", help="Debian packages that the machine needs"
    )
    parser.add_argument(
        "--copy",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a path to have there",
    )
    parser.add_argument("--dry-run", action="store_true", help="show QEMU's command line")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    host = profile.load(args.machine)
    chosen = policy.load(args.policy)
    if chosen.computed:
        raise KlocError(f"policy {chosen.name} is computed, and no machine runs it")
    packages = tuple(name for name in args.packages.split(",") if name)
    job = Job(
        name="shell",
        profile=host,
        scripts={},
        settings=chosen.settings("", host),
        timing=chosen.timing,
        packages=packages,
        copies=tuple(path.absolute() for path in args.copy),
        shell=True,
    )
    if args.dry_run:
        has = ", ".join(packages) or "none"
        print(f"a shell under {chosen.name}, machine {host.name}, packages: {has}")
        return 0
    parts = machine.prepare(packages)
    ui.say("the machine's shell: 'exit' ends it, Ctrl-A X stops QEMU, /data is the disk")
    machine.run(job, parts)
    return 0
