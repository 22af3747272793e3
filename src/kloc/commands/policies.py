# SPDX-License-Identifier: GPL-2.0
"""`kloc policies`: lists the policies, what each sets, and which periods are scaled."""

from __future__ import annotations

import argparse
from typing import Any

from kloc.commands import listing
from kloc.machine import profile
from kloc.measure import policy

USAGE = ("[options] [NAME...]",)

DESCRIPTION = """\
List the policies. A policy is a list of values that are written to files of /proc/sys and /sys
before a workload loads.
"""

EXAMPLES = (
    ("kloc policies", "all policies"),
    ("kloc policies kloc --machine cxl", "one, with what it sets on a machine"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    listing.add_arguments(parser, policy.names, "machine")


def run(args: argparse.Namespace) -> int:
    """Print the policies."""
    host = profile.read(args.machine)
    return listing.show(args, "policy", [_row(policy.load(name), host) for name in policy.names()])


def _row(one: policy.Policy, host: profile.Profile) -> dict[str, Any]:
    return {
        "name": one.name,
        "summary": one.summary,
        "frames from": one.frames_from or "",
        "settings": one.settings("", host),
        "divided by scale": {
            path: f"{value:.10g} / {host.scale:g}" for path, value in one.divided.items()
        },
        "settings of": dict(one.settings_of),
        "tuned": {name: dict(values) for name, values in one.tuned.items()},
    }
