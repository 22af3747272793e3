# SPDX-License-Identifier: GPL-2.0
"""The options that several measuring commands share.

A command calls `options.add(group, "policy", "machine", ...)`, and gets the chosen values from the
functions below.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.build import foreign_kernel, guest_image
from kloc.commands import output, values
from kloc.commands.completers import complete_names
from kloc.machine import profile
from kloc.measure import policy, workload

ANY_KERNEL = "stock"
"""The default policy of kernels that this project did not build."""

NOT_READABLE = "make it readable, or run kloc as a user with access"

# Parsers and groups of options: what arguments can be added to.
_Container = argparse._ActionsContainer


def add(container: _Container, *names: str) -> None:
    """Add the options of these names (the keys of ADDERS) to a parser or a group of one."""
    for name in names:
        ADDERS[name](container)


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Add the argument WORKLOAD of a command that measures one workload."""
    action = parser.add_argument_group("arguments").add_argument(
        "workload",
        metavar="WORKLOAD",
        help="the workload to measure (kloc workloads lists them)",
    )
    complete_names(action, workload.names)


def chosen_policy(args: argparse.Namespace) -> policy.Policy:
    """Return the policy that --policy names, or the default one after a message that names it.

    The default of another kernel (--kernel) is a policy that every kernel has.
    """
    if args.policy is not None:
        return policy.load(args.policy)
    foreign = getattr(args, "kernel", None) is not None
    name, when = (ANY_KERNEL, "default with --kernel") if foreign else (policy.DEFAULT, "default")
    terminal.say(f"policy {name} ({when}; --policy chooses another)")
    return policy.load(name)


def size(args: argparse.Namespace) -> workload.Size:
    """Return the size that --quick, --long or neither asks for."""
    return workload.QUICK if args.quick else workload.LONG if args.long else workload.FULL


def seeds(args: argparse.Namespace) -> tuple[int, ...]:
    """Return the random seeds that --seeds or --seed chooses."""
    return args.seeds if args.seed is None else (args.seed,)


def machine(args: argparse.Namespace) -> profile.Profile:
    """Return the machine that --machine, --fast and --slow-bandwidth (one value each) describe."""
    return profile.load(args.machine).varied(args.fast, args.slow_bandwidth)


def machines(args: argparse.Namespace) -> list[profile.Profile]:
    """Return every combination of --machine, --fast and --slow-bandwidth (several values each)."""
    base = profile.load(args.machine)
    variants = [base.varied(fast, slow) for fast in args.fast for slow in args.slow_bandwidth]
    return list(dict.fromkeys(variants))


def kernel(args: argparse.Namespace) -> str | None:
    """Return the kernel that --kernel names, None for kloc's own.

    Raises KlocError if it is neither an existing file nor the name of a package.
    """
    name: str | None = args.kernel
    if name is not None:
        foreign_kernel.check(name)
    return name


def packages(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the Debian packages that --packages names. Raises KlocError if one is no name."""
    return tuple(guest_image.checked_name(name) for name in args.packages)


def copies(args: argparse.Namespace) -> tuple[Path, ...]:
    """Return the absolute paths that --copy names. Raises KlocError if one does not exist."""
    return tuple(existing(path) for path in args.copy)


def existing(path: Path) -> Path:
    """Return `path` made absolute. Raises KlocError if it does not exist or cannot be accessed."""
    try:
        if not path.exists():
            raise KlocError(f"{path} does not exist", "name an existing file or directory")
    except PermissionError as error:
        raise KlocError(f"cannot read {path}: {error.strerror}", NOT_READABLE) from error
    return path.absolute()


def refuse(
    args: argparse.Namespace, defaults: Mapping[str, object], reason: str, hint: str
) -> None:
    """Raise UsageError with the options, `reason` and `hint` if options in `defaults` are given.

    An option counts as given if its value is not the default.
    """
    given = [
        f"--{name.replace('_', '-')}"
        for name, default in defaults.items()
        if getattr(args, name) != default
    ]
    if given:
        raise UsageError(f"{', '.join(given)}: {reason}", hint)


def _policy(container: _Container) -> None:
    action = container.add_argument(
        "--policy",
        metavar="POLICY",
        help=f"the policy (default: {policy.DEFAULT}; kloc policies lists them)",
    )
    complete_names(action, policy.names)


def _machine(container: _Container) -> None:
    action = container.add_argument(
        "--machine",
        default=profile.DEFAULT,
        metavar="MACHINE",
        help="the machine, or a profile of your own that ends in .toml "
        "(default: %(default)s; kloc machines lists them)",
    )
    complete_names(action, profile.names, ".toml")


def _variant(container: _Container) -> None:
    container.add_argument(
        "--fast",
        type=values.factor,
        metavar="F",
        help="multiply the capacity of fast memory, for example by 1/2 or 2",
    )
    container.add_argument(
        "--slow-bandwidth",
        type=values.fraction,
        metavar="F",
        help="set the bandwidth of slow memory, as a fraction of that of fast memory: 1/8",
    )


def _variants(container: _Container) -> None:
    container.add_argument(
        "--fast",
        type=values.factors,
        action=values.AddUp,
        default=(None,),
        metavar="F,F",
        help="multiply the capacity of fast memory, for example by 1/2,1,2,4",
    )
    container.add_argument(
        "--slow-bandwidth",
        type=values.fractions,
        action=values.AddUp,
        default=(None,),
        metavar="F,F",
        help="set the bandwidth of slow memory, as fractions of that of fast memory: 1/8,1/4; "
        "every combination with --fast is measured, with its own bounds",
    )


def _kernel(container: _Container) -> None:
    container.add_argument(
        "--kernel",
        metavar="PATH|PACKAGE",
        help="run another kernel than kloc's: a bzImage, a .deb file, or a Debian package such as "
        "linux-image-amd64; policies that it lacks cannot be measured, and "
        "kinds of pages are unknown",
    )


def _seed(container: _Container) -> None:
    container.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        default=1,
        metavar="N",
        help="the random seed (default: %(default)s)",
    )


def _seeds(container: _Container) -> None:
    group = container.add_mutually_exclusive_group()
    group.add_argument(
        "--seeds",
        type=values.seeds,
        action=values.AddUp,
        default=(1,),
        metavar="N|A-B|A,B",
        help="measure several random seeds: 3 (these are 1 to 3), 4-6 or 1,3,7 (default: 1)",
    )
    group.add_argument(
        "--seed",
        type=values.whole_number(0, values.SEED_MAX),
        metavar="N",
        help="measure this random seed",
    )


def _length(container: _Container) -> None:
    length = container.add_mutually_exclusive_group()
    length.add_argument(
        "--quick", action="store_true", help="a quarter of the load and of the measured region"
    )
    length.add_argument("--long", action="store_true", help="four times the measured region")


def _cold(container: _Container) -> None:
    container.add_argument(
        "--cold", action="store_true", help="measure from the load on, without a warm-up"
    )


def _packages(container: _Container) -> None:
    container.add_argument(
        "--packages",
        type=values.comma_list,
        action=values.AddUp,
        default=(),
        metavar="A,B",
        help="install these Debian packages in the machine",
    )


def _copy(container: _Container) -> None:
    container.add_argument(
        "--copy",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="copy a file or directory to the same path in the machine; can be repeated",
    )


def _report(container: _Container) -> None:
    container.add_argument(
        "--report", type=Path, metavar="FILE", help="write an HTML report to FILE"
    )


def _picture(container: _Container) -> None:
    container.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw who is ahead, what the cores waited for, and pages over time to FILE, a small "
        ".svg",
    )


def _follow(container: _Container) -> None:
    container.add_argument(
        "--follow",
        action="store_true",
        help="show pages, migrations and stalls during the run, without changing the figures",
    )


ADDERS: Mapping[str, Callable[[_Container], None]] = {
    "policy": _policy,
    "machine": _machine,
    "variant": _variant,
    "variants": _variants,
    "kernel": _kernel,
    "seed": _seed,
    "seeds": _seeds,
    "length": _length,
    "cold": _cold,
    "packages": _packages,
    "copy": _copy,
    "json": output.add_json,
    "report": _report,
    "picture": _picture,
    "follow": _follow,
    "dry-run": output.add_dry_run,
}
