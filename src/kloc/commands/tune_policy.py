# SPDX-License-Identifier: GPL-2.0
"""`kloc tune POLICY WORKLOAD`: finds the settings with which a policy is fastest on a workload."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kloc.base import files, revision, terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import duration, options, output
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.search import Search
from kloc.schemes import text

if TYPE_CHECKING:
    from rich.table import Table


def is_policy(name: str) -> bool:
    """Return whether `name` is a policy, and not a scheme."""
    if name in text.names():
        return False
    return name.endswith(policy.SUFFIX) or name in policy.names()


def tune(args: argparse.Namespace) -> int:
    """Search, and print the trials and the lines for the policy's file."""
    _check(args)
    what = workload.load(args.workload)
    kept: dict[str, Any] = _kept(args.resume)

    def save(entry: Mapping[str, Any]) -> None:
        kept.update(entry)
        if args.resume is not None:
            files.write_text(args.resume, json.dumps(kept, indent=1) + "\n")

    host = profile.load(args.machine)
    search = Search(args.scheme, what, [args.seed], kept, save, host, options.size(args))
    if args.dry_run:
        return _list(search)
    untuned = search.untuned()
    entry = search.run()
    content = {
        "kloc": revision.commit(),
        "policy": args.scheme,
        "workload": args.workload,
        "seed": args.seed,
        "size": "quick" if args.quick else "long" if args.long else "full",
        "untuned": {"settings": dict(search.current), "throughput": untuned},
        "best": {"settings": entry["best"], "throughput": search.fastest()},
        "trials": entry["trials"],
    }
    output.deliver(args, content, lambda: _print(content))
    return 0


def _list(search: Search) -> int:
    """Print the settings that a search tries, one after the other, and with which values."""
    runs = [search.task(search.current)]
    print(f"{runs[0].listing()}, with the settings of the policy's file")
    for file, values in search.space.items():
        print(f"then {file}: {', '.join(values)}")
        runs += [search.task({file: value}) for value in values]
    print(f"{len(runs)} runs, fewer if two are the same")
    duration.say(runs)
    return 0


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that only schemes have."""
    schemes_only = {
        "--limit": args.limit,
        "--samples": args.samples,
        "--score": args.score,
        "--score-command": args.score_command,
        "--sla": args.sla,
        "--plot": args.plot,
    }
    given = [option for option, value in schemes_only.items() if value is not None]
    if given:
        raise UsageError(
            f"{args.scheme} is a policy, and {', '.join(given)} is for schemes",
            "a policy's table [tune] has the values to try, and the score is throughput",
        )


def _kept(path: Path | None) -> dict[str, Any]:
    """Return the trials of an earlier search. Raises KlocError if the file has something else."""
    if path is None or not path.exists():
        return {}
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        content = error
    if not isinstance(content, dict) or "trials" not in content:
        raise KlocError(
            f"{path} does not have the trials of a tuning",
            "name the file of an earlier kloc tune --resume, or one that does not exist yet",
        )
    return content


def _print(content: Mapping[str, Any]) -> None:
    out = terminal.lists()
    out.print(_table(content))
    best, untuned = content["best"], content["untuned"]
    gain = best["throughput"] / untuned["throughput"]
    found = best["settings"] != untuned["settings"] and gain > 1
    if not found:
        out.print("no tried value is better than the settings of the policy's file")
        return
    out.print(f"best: {gain:.3f} times the throughput with the settings of the policy's file")
    for name, settings in _by_file(content["policy"], best["settings"]).items():
        out.print(f"for the file of policy {name} (found on seed {content['seed']}):")
        for line in (
            f"[for.{content['workload']}]",
            *(f'"{file}" = {value}' for file, value in settings.items()),
        ):
            out.print(f"    {line}", markup=False, soft_wrap=True)


def _by_file(name: str, settings: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the settings by the policy whose file has them: a policy may have those of another."""
    owners = policy.load(name).settings_of
    found: dict[str, dict[str, str]] = {}
    for file, value in settings.items():
        found.setdefault(owners.get(file, name), {})[file] = value
    return found


def _table(content: Mapping[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    trials = content["trials"]
    for file in trials[0]["settings"]:
        table.add_column(Path(file).name, justify="right")
    table.add_column("operations/s", justify="right")
    table.add_column("relative", justify="right")
    untuned = content["untuned"]["throughput"]
    for trial in trials:
        ratio = trial["throughput"] / untuned
        table.add_row(*trial["settings"].values(), f"{trial['throughput']:,.0f}", f"{ratio:.3f}")
    return table
