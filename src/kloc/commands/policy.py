# SPDX-License-Identifier: GPL-2.0
"""`kloc policy`: changes the policy while kloc is on, or lists those that this server can have."""

from __future__ import annotations

import argparse
from dataclasses import replace

from kloc.base import terminal
from kloc.commands.completers import complete_names
from kloc.commands.on import known
from kloc.server import config, control, plan, policy_files

USAGE = ("[options]", "[options] NAME")

DESCRIPTION = """\
Change the policy while kloc is on: settings of the previous one are restored, and limits and the
other settings of kloc.toml stay. kloc on returns to the policy of the file.

Without NAME, list the policies that this server can have, and what it lacks for others.
"""

EXAMPLES = (
    ("kloc policy", "which policies are there"),
    ("kloc policy tpp", "change to Linux's own tiering"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments."""
    action = parser.add_argument_group("arguments").add_argument(
        "name", nargs="?", metavar="NAME", help="the policy"
    )
    complete_names(action, policy_files.of_servers)


def run(args: argparse.Namespace) -> int:
    """Change the policy, or list the policies."""
    if args.name is None:
        _print()
        return 0
    for note in control.change_policy(known(args.name)):
        terminal.say(note)
    print(f"kloc is on: policy {args.name}")
    return 0


def _print() -> None:
    from rich.table import Table
    from rich.text import Text

    record = control.recorded()
    table = Table(box=None, pad_edge=False)
    for title in ("policy", "here", "what it does, or what is missing"):
        table.add_column(title)
    for name in policy_files.of_servers():
        lacking = next(plan.refusals(replace(config.Config(), policy=name)), None)
        state = "on" if record and record.policy == name else "no" if lacking else "yes"
        summary = policy_files.load(name).summary if lacking is None else lacking.message
        table.add_row(name, state, Text(summary))
    terminal.lists().print(table)
