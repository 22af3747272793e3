# SPDX-License-Identifier: GPL-2.0
"""kloc policies: what can be compared, what each sets, and which periods are scaled."""

from __future__ import annotations

import argparse

from kloc.commands import listing, options
from kloc.machine import profile
from kloc.measure import policy

NAME = "policies"
HELP = "list the policies, with what each sets"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    listing.add_arguments(parser, policy.names)
    options.add(parser, "machine")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    host = profile.read(args.machine)
    rows = []
    for each in (policy.load(name) for name in policy.names()):
        rows.append(
            {
                "name": each.name,
                "summary": each.summary,
                "computed": each.computed is not None,
                "settings": each.settings("", host),
                "divided by scale": {
                    path: f"{value:g} / {host.scale:g}" for path, value in each.divided.items()
                },
                "tuned": {name: dict(values) for name, values in each.tuned.items()},
            }
        )
    return listing.show(args, rows)
