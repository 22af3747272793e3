#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Search for the settings of a policy on several workloads and seeds, and keep all trials.

    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb redis
    PYTHONPATH=src python3 tools/search_policy.py tpp rocksdb --seeds 101-103

Here python3 must have the packages that pyproject.toml names. For one workload and seed,
`kloc tune tpp rocksdb` does the same search (kloc.measure.search). The policy's table [tune] names
the settings and the values to try.

Seeds are 101 and up. Tables show the seeds from 1 up: settings that were chosen on
a seed of a table would be fitted to the very runs that the table compares. With
several seeds, a trial's throughput is the median.

Every trial is written to policies/search/POLICY.json when it has been measured,
with a hash of its inputs (kernel, disks, QEMU and so on; see docs/results.md). To
continue a search that was stopped, run it again: it measures only trials that the
file lacks, or that have other inputs today. The file keeps the results of other
workloads. Entries without seeds are of an older search, on seed 1.

Copy the best settings of a workload into the policy's [for.WORKLOAD] table
yourself, once the file says that its search has finished.

Limits

- Trials are made on machine `tiered`, at full size.
- Settings are tried one after the other, not in all combinations.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base import files
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.commands import values
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.search import Save, Search

DIRECTORY = PROJECT / "policies" / "search"

FIRST_SEED = 101
"""Smaller seeds are those of tables."""


def seeds(text: str) -> tuple[int, ...]:
    """Return the seeds in a list such as 101-103. Raises ArgumentTypeError if one is in a table."""
    chosen = values.seeds(f"{text}-{text}" if text.isdecimal() else text)
    if min(chosen) < FIRST_SEED:
        raise argparse.ArgumentTypeError(
            f"seed {min(chosen)} is one that tables show, and settings must not be fitted to it: "
            f"search on seeds from {FIRST_SEED} up"
        )
    return chosen


def search(name: str, workloads: Iterable[str], chosen: Sequence[int], path: Path) -> None:
    """Search for each workload, write all trials to `path`, and print the best settings."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def save_as(what: str) -> Save:
        def save(entry: Mapping[str, Any]) -> None:
            found[what] = entry
            files.write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")

        return save

    for what in workloads:
        stored = found.get(what, {})
        host = profile.load(profile.DEFAULT)
        entry = Search(name, workload.load(what), chosen, stored, save_as(what), host).run()
        print(what, json.dumps(entry["best"], indent=1), flush=True)


def main() -> None:
    """Search for each workload named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "policy", choices=policy.names(), metavar="POLICY", help="the policy to tune"
    )
    parser.add_argument(
        "workloads", nargs="+", metavar="WORKLOAD", help="a workload to tune the policy for"
    )
    parser.add_argument(
        "--seeds",
        type=seeds,
        action=values.AddUp,
        default=(FIRST_SEED,),
        metavar="N|A-B|A,B",
        help=f"the random seeds to search on, from {FIRST_SEED} up (default: {FIRST_SEED})",
    )
    args = parser.parse_args()
    DIRECTORY.mkdir(exist_ok=True)
    try:
        search(args.policy, args.workloads, args.seeds, DIRECTORY / f"{args.policy}.json")
    except KlocError as error:
        sys.exit(f"{error.message}\n{error.hint or ''}".rstrip())


if __name__ == "__main__":
    main()
