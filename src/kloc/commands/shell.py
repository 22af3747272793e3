# SPDX-License-Identifier: GPL-2.0
"""`kloc shell`: opens a shell in the machine, set up for a policy."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.commands import options
from kloc.machine import guest_commands, launcher, profile
from kloc.machine.job import Job, Terminal
from kloc.machine.parts import prepare_parts

USAGE = ("[options]",)

DESCRIPTION = """\
Open a root shell in the machine, set up for a policy. Nothing is measured.

/data is the machine's disk, and kloc's server commands, such as kloc status, are installed.
'exit' ends the shell, Ctrl-A X stops QEMU. kloc shell needs a terminal; without one, kloc run runs
commands.
"""

EXAMPLES = (
    ("kloc shell", "a shell under policy kloc"),
    ("kloc shell --packages fio --copy $PWD/prog", "with a package and a program"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    options.add(parser.add_argument_group("machine"), "policy", "machine")
    options.add(parser.add_argument_group("files"), "packages", "copy")
    options.add(parser.add_argument_group("output"), "dry-run")


def run(args: argparse.Namespace) -> int:
    """Start the machine, and return when the shell has ended."""
    host = profile.load(args.machine)
    used = options.chosen_policy(args)
    if used.frames_from:
        raise KlocError(
            f"policy {used.name} cannot be used in a shell: "
            "it follows from the run of another policy",
            "choose another one with --policy",
        )
    if used.scheme or used.swap:
        raise KlocError(
            f"policy {used.name} cannot be used in a shell: its swap and its scheme are set up for "
            "a workload",
            "choose another one with --policy; kloc scheme apply applies a scheme in the shell",
        )
    packages = (*options.packages(args), *guest_commands.PACKAGES)
    job = Job(
        name="shell",
        profile=host,
        scripts={},
        settings=used.settings("", host),
        timing=used.timing,
        parameters=used.parameters,
        packages=packages,
        copies=options.copies(args),
        shell=True,
        terminal=_terminal(),
        commands=True,
    )
    if args.dry_run:
        installed = ", ".join(args.packages) or "none"
        print(f"a shell under {used.name}, machine {host.name}, packages: {installed}")
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KlocError(
            "kloc shell needs a terminal, and standard input or output is none",
            "kloc run --with-kloc -- sh -c 'COMMANDS' runs commands without one",
        )
    parts = prepare_parts(packages)
    terminal.say("the machine's shell: 'exit' ends it, Ctrl-A X stops QEMU, /data is the disk")
    launcher.run(job, parts)
    return 0


def _terminal() -> Terminal | None:
    """Return the terminal's type and size, None if they are not known."""
    size = shutil.get_terminal_size((0, 0))
    # The guest's agent puts the type into a command line and a path.
    kind = os.environ.get("TERM", "")
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", kind) or 0 in size:
        return None
    return Terminal(kind, size.lines, size.columns)
