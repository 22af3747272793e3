# SPDX-License-Identifier: GPL-2.0
"""`kloc policies`: lists the policies, what each sets, and which periods are scaled."""

from __future__ import annotations

import argparse
from typing import Any

from kloc.base import paths
from kloc.base.daemon import Daemon
from kloc.base.sizes import exact_size
from kloc.commands import listing
from kloc.machine import profile
from kloc.measure import policy
from kloc.measure.scheme_use import SchemeUse
from kloc.schemes import scaled, text, units

USAGE = ("[options] [NAME...]",)

DESCRIPTION = """\
List the policies. A policy is a list of values that are written to files of /proc/sys and /sys
before a workload loads.

Files NAME.toml in ~/.config/kloc/policies and /etc/kloc/policies are policies, too.
"""

EXAMPLES = (
    ("kloc policies", "all policies"),
    ("kloc policies kloc --machine cxl", "one, with what it sets on a machine"),
    ("kloc policies mine.toml", "the policy of a file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    listing.add_arguments(parser, policy.names, "machine")


def run(args: argparse.Namespace) -> int:
    """Print the policies."""
    host = profile.read(args.machine)
    # A file's policy is known once it is loaded, so that its name is not repeated below.
    names = (name for name in args.names if paths.is_path(name, policy.SUFFIX))
    files = [{**_row(policy.load(name), host), "name": name} for name in names]
    rows = [_row(policy.load(name), host) for name in policy.names()]
    return listing.show(args, "policy", [*rows, *files])


def _scheme(use: SchemeUse, host: profile.Profile) -> dict[str, Any]:
    """Return what DAMON does under a policy on a machine."""
    attributes = scaled.attributes(use.attributes, host.scale) if use.divided else use.attributes
    return {
        "schemes": [text.format_scheme(one) for one in use.schemes] or "none: DAMON only monitors",
        "target": use.target,
        "sampling, aggregation, update": ", ".join(
            units.format_time(time)
            for time in (attributes.sampling_us, attributes.aggregation_us, attributes.update_us)
        ),
        "regions": f"{attributes.min_regions} to {attributes.max_regions}",
        **{
            f"{workload}, tuned on seed {tuned.seed}": "; ".join(
                text.format_scheme(one) for one in use.chosen(workload)
            )
            or "no scheme"
            for workload, tuned in use.tuned.items()
        },
    }


def _daemon(used: Daemon) -> dict[str, Any]:
    """Return what runs under a policy that is a daemon, and what it needs."""
    return {
        "packages": list(used.packages),
        "files": [path.name for path in used.files],
        "needs": list(used.needs),
        **{key: (getattr(used, key) or "").rstrip() for key in ("start", "ready", "stop")},
        "limits": f"ready within {used.ready_seconds:g} s, ended within {used.stop_seconds:g} s",
    }


def _row(one: policy.Policy, host: profile.Profile) -> dict[str, Any]:
    return {
        "name": one.name,
        "summary": one.summary,
        "frames from": one.frames_from or "",
        "bound on slowdown": "" if one.bound is None else f"{one.bound:g} %",
        "settings": one.settings("", host),
        "divided by scale": {
            path: f"{value:.10g} / {host.scale:g}" for path, value in one.divided.items()
        },
        "settings of": dict(one.settings_of),
        "scheme": _scheme(one.scheme, host) if one.scheme else {},
        "daemon": _daemon(one.daemon) if one.daemon else {},
        "swap": f"{one.swap.kind}, {exact_size(one.swap.swap(host).size_bytes)}"
        if one.swap
        else "",
        "tuned": {name: dict(values) for name, values in one.for_workload.items()},
    }
