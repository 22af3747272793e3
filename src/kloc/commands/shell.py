# SPDX-License-Identifier: GPL-2.0
"""kloc shell: a shell inside the machine, set up for a policy; nothing is measured."""

from __future__ import annotations

import argparse

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.machine import guest_commands, launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from kloc.measure import policy

NAME = "shell"
HELP = "a shell inside the machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    options.add(parser, "policy", "machine", "packages", "copy", "dry-run")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    host = profile.load(args.machine)
    chosen = policy.load(args.policy)
    if chosen.computed:
        raise KlocError(f"policy {chosen.name} is computed, and no machine runs it")
    packages = (*args.packages, *guest_commands.PACKAGES)
    job = Job(
        name="shell",
        profile=host,
        scripts={},
        settings=chosen.settings("", host),
        timing=chosen.timing,
        packages=packages,
        copies=options.copies(args),
        shell=True,
        commands=True,
    )
    if args.dry_run:
        has = ", ".join(args.packages) or "none"
        print(f"a shell under {chosen.name}, machine {host.name}, packages: {has}")
        return 0
    parts = prepare_parts(packages)
    terminal.say("the machine's shell: 'exit' ends it, Ctrl-A X stops QEMU, /data is the disk")
    launcher.run(job, parts)
    return 0
