# SPDX-License-Identifier: GPL-2.0
"""`kloc workloads`: lists the workloads."""

from __future__ import annotations

import argparse

from kloc.commands import listing
from kloc.measure import workload

USAGE = ("[options] [NAME...]",)

DESCRIPTION = """\
List the workloads that kloc compare and kloc run measure.

With NAME, say whether kloc compare --native can measure it on a server itself, too.

Files in ~/.config/kloc/workloads and /etc/kloc/workloads have workloads, too.
"""

EXAMPLES = (
    ("kloc workloads", "all workloads"),
    ("kloc workloads rocksdb", "one, with the packages that it needs"),
    ("kloc workloads mine.py", "the workload of a file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    listing.add_arguments(parser, workload.names)


def run(args: argparse.Namespace) -> int:
    """Print the workloads."""
    files = [name for name in args.names if name.partition(":")[0].endswith(workload.SUFFIX)]
    workloads = {name: workload.load(name) for name in (*workload.names(), *files)}
    return listing.show(
        args,
        "workload",
        [
            {
                "name": name,
                "summary": one.summary,
                "packages": list(one.packages),
                "spread": one.spread,
                "native": f"no: {one.not_native}" if one.not_native else "yes",
            }
            for name, one in workloads.items()
        ],
    )
