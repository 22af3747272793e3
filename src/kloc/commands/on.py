# SPDX-License-Identifier: GPL-2.0
"""`kloc on`: sets what kloc.toml says on the running kernel."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import unknown
from kloc.commands.completers import complete_names
from kloc.server import config, control, daemons, plan, policy_files

USAGE = ("[options]",)

DESCRIPTION = """\
Select a policy and set what /etc/kloc/kloc.toml says, or the defaults without this file: on a
server, as root. What was there before is remembered, and kloc off restores it. Nothing is changed
if the kernel lacks something; the error says what to do. A policy that is a daemon is started as a
unit of systemd, if its packages are installed.

kloc.service does this at boot. Turned on again, kloc sets what the file says now.
"""

EXAMPLES = (
    ("kloc on", "as kloc.toml says"),
    ("kloc on --policy tpp --dry-run", "print what would be written"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    group = parser.add_argument_group("settings")
    add_policy(group)
    group.add_argument(
        "--config", type=Path, metavar="FILE", help=f"the settings (default: {config.DEFAULT})"
    )
    group.add_argument(
        "--dry-run", action="store_true", help="print what would be written, and write nothing"
    )


def add_policy(container: argparse._ActionsContainer) -> None:
    """Add --policy."""
    action = container.add_argument(
        "--policy",
        metavar="NAME",
        help="the policy, instead of that of the file (kloc policy lists those of servers)",
    )
    complete_names(action, policy_files.of_servers)


def run(args: argparse.Namespace) -> int:
    """Turn kloc on, or print what that would write."""
    settings = config.read(args.config)
    if args.policy is not None:
        settings = replace(settings, policy=known(args.policy))
    if args.dry_run:
        planned = plan.make(settings)
        for path, text in planned.writes:
            print(f"echo {shlex.quote(text)} > {path}")
        if planned.daemon is not None:
            print(shlex.join(daemons.command(planned.policy, planned.daemon)))
        notes = planned.notes
    else:
        notes = control.turn_on(settings)
        print(f"kloc is on: policy {settings.policy}, {settings.file or 'default settings'}")
    for note in notes:
        terminal.say(note)
    return 0


def known(name: str) -> str:
    """Return the name of a policy. Raises UsageError if there is none of this name."""
    if name not in policy_files.names():
        raise unknown("policy", name, policy_files.of_servers())
    return name
