# SPDX-License-Identifier: GPL-2.0
"""The arguments that the commands with DAMON share: schemes, targets, times, monitoring."""

from __future__ import annotations

import argparse
import re

from kloc.base.errors import UsageError
from kloc.commands import completers, values
from kloc.schemes import text, units
from kloc.schemes.sysfs import Attributes

PID_MAX = (1 << 31) - 1

DEFAULTS = Attributes()

_Container = argparse._ActionsContainer


def add_scheme(container: _Container, required: bool) -> None:
    """Add the argument SCHEME, which a shell completes; `schemes` without `required`, 0 or more."""
    action = container.add_argument(
        "scheme" if required else "schemes",
        nargs=None if required else "*",
        metavar="SCHEME",
        help=f"a ready-made scheme ({', '.join(text.names())}), or a file of schemes",
    )
    completers.complete_names(action, text.names, text.SUFFIX)


def add_pid(container: _Container, purpose: str) -> None:
    """Add --pid."""
    container.add_argument(
        "--pid", type=values.whole_number(1, PID_MAX), metavar="PID", help=purpose
    )


def add_duration(container: _Container, purpose: str) -> None:
    """Add --for, in seconds: `duration` is None without it."""
    container.add_argument("--for", dest="duration", type=seconds, metavar="TIME", help=purpose)


def add_monitoring(parser: argparse.ArgumentParser, defaults: Attributes = DEFAULTS) -> None:
    """Add the options that say how DAMON monitors, with their `defaults`."""
    group = parser.add_argument_group("monitoring")
    for name, default, what in (
        ("sampling", defaults.sampling_us, "how often a page of each region is checked"),
        ("aggregation", defaults.aggregation_us, "after which samples are counted"),
        ("update", defaults.update_us, "how often new memory is looked for"),
    ):
        group.add_argument(
            f"--{name}",
            type=microseconds,
            default=default,
            metavar="TIME",
            help=f"{what} (default: {units.format_time(default)})",
        )
    group.add_argument(
        "--regions",
        type=_regions,
        default=(defaults.min_regions, defaults.max_regions),
        metavar="MIN-MAX",
        help=f"how many regions (default: {defaults.min_regions}-{defaults.max_regions})",
    )


def monitoring_given(args: argparse.Namespace, defaults: Attributes = DEFAULTS) -> list[str]:
    """Return the options of `add_monitoring` that are given: whose value is not the default."""
    values = {
        "sampling": defaults.sampling_us,
        "aggregation": defaults.aggregation_us,
        "update": defaults.update_us,
        "regions": (defaults.min_regions, defaults.max_regions),
    }
    return [f"--{name}" for name, default in values.items() if getattr(args, name) != default]


def attributes(args: argparse.Namespace) -> Attributes:
    """Return what the options of `add_monitoring` say. Raises UsageError if DAMON refuses it."""
    if args.sampling > args.aggregation:
        raise UsageError(
            "--sampling is above --aggregation", "an aggregation interval has some samples"
        )
    return Attributes(args.sampling, args.aggregation, args.update, *args.regions)


def microseconds(word: str) -> int:
    """Return a time above 0 in microseconds, as argparse's `type`; `2m30s` is a sum."""
    parts = re.findall(r"[\d.]+[a-z]+", word)
    try:
        time = sum(map(units.parse_time, parts)) if "".join(parts) == word else 0
    except ValueError:
        time = 0
    if time <= 0:
        raise argparse.ArgumentTypeError(f"'{word}' is not a time such as 100ms, 90s, 2m30s or 2h")
    return time


def seconds(word: str) -> float:
    """Return a time above 0 in seconds, as argparse's `type`."""
    return microseconds(word) / 1e6


def _regions(word: str) -> tuple[int, int]:
    low, dash, high = word.partition("-")
    if not (dash and low.isdecimal() and high.isdecimal() and 3 <= int(low) <= int(high)):
        raise argparse.ArgumentTypeError(
            f"'{word}' is not MIN-MAX with 3 or more regions, such as 10-1000"
        )
    return int(low), int(high)
