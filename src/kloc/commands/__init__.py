# SPDX-License-Identifier: GPL-2.0
"""The subcommands of kloc: COMMANDS lists them, and each has a module in this package.

Only the module of the chosen command is imported, so that `kloc status` needs no package that only
measuring needs. Other modules in this package are helpers of the commands.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from kloc.base import paths
from kloc.base.errors import UsageError, closest

MEASURE, INSPECT, SERVER, SCHEMES, DEVELOP = "measure", "inspect", "server", "schemes", "develop"

GROUPS = {
    MEASURE: "measure programs in the two-tier machine",
    INSPECT: "inspect what can be measured",
    SERVER: "tier the memory of the running kernel, inspect and control contexts",
    SCHEMES: "apply memory management schemes on any kernel with DAMON",
    DEVELOP: "develop, and set up this host",
}
"""The groups of `kloc --help` with their titles, in order."""


class CommandModule(Protocol):
    """The contents of a command's module."""

    USAGE: Sequence[str]
    """What follows `kloc NAME` on the command line, one string for each form."""

    DESCRIPTION: str
    """What the command does; paragraphs are separated by blank lines."""

    EXAMPLES: Sequence[tuple[str, str]]
    """Command lines, each with a few words on what it does."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments and options."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return its exit status."""


@dataclass(frozen=True)
class Command:
    """A subcommand.

    `needs` are the extras in pyproject.toml that its module imports. With `takes_program`, the
    words after `--` are passed to it as `args.program`. `check` raises KlocError if this kloc lacks
    files that the command needs, which it calls by the name that `check` is given. `in_checkout`
    are actions and options of the command that need a checkout.

    `forms` are other commands that this one becomes with an option, which is the last word of their
    names: what they need is another matter.
    """

    name: str
    group: str
    help: str
    needs: tuple[str, ...] = ()
    takes_program: bool = False
    check: Callable[[str], None] | None = None
    in_checkout: tuple[str, ...] = ()
    forms: tuple[Command, ...] = ()

    @property
    def file(self) -> str:
        """Return the name as files have it: compare-native for `compare --native`."""
        return self.name.replace(" --", "-")

    @property
    def module(self) -> str:
        """Return the full name of the command's module."""
        return f"{__name__}.{self.file.replace('-', '_')}"

    def chosen(self, words: Sequence[str]) -> Command:
        """Return the form of the command that the words after its name choose."""
        return next((form for form in self.forms if form.name.split()[-1] in words), self)

    def require_files(self, words: Sequence[str]) -> None:
        """Raise KlocError if this kloc lacks files that the command needs with these arguments."""
        for word in self.in_checkout:
            if word in words:
                paths.require_checkout(f"kloc {self.name} {word}")
        if self.check is not None:
            self.check(f"kloc {self.name}")

    def load(self) -> CommandModule:
        """Import the command's module. The extras that it needs must be installed."""
        return cast(CommandModule, importlib.import_module(self.module))


_MEASURE_EXTRA = ("measure",)
_LABORATORY = paths.require_laboratory

COMMANDS = (
    Command(
        "compare",
        MEASURE,
        "measure workloads under several policies, or show result files",
        _MEASURE_EXTRA,
        check=_LABORATORY,
        forms=(
            Command(
                "compare --native",
                SERVER,
                "compare policies on this server itself",
                takes_program=True,
            ),
        ),
    ),
    Command(
        "run",
        MEASURE,
        "measure one workload, or a program of your own",
        _MEASURE_EXTRA,
        takes_program=True,
        check=_LABORATORY,
    ),
    Command(
        "objects",
        MEASURE,
        "show what a workload uses its memory for",
        _MEASURE_EXTRA,
        check=_LABORATORY,
    ),
    Command(
        "what-if",
        MEASURE,
        "measure the gain from keeping page kinds in fast memory",
        _MEASURE_EXTRA,
        check=_LABORATORY,
    ),
    Command(
        "size",
        MEASURE,
        "find the smallest fast memory within a slowdown",
        _MEASURE_EXTRA,
        check=_LABORATORY,
    ),
    Command(
        "bench",
        MEASURE,
        "measure the kernel, the machine, or the docs' tables",
        _MEASURE_EXTRA,
        check=_LABORATORY,
        in_checkout=("tables",),
    ),
    Command("workloads", INSPECT, "list the workloads", ("files",)),
    Command("policies", INSPECT, "list the policies, with what each sets", ("files",)),
    Command("machines", INSPECT, "list the machines, with their figures", ("files",)),
    Command("on", SERVER, "select a policy, and set what kloc.toml says"),
    Command("off", SERVER, "restore the settings from before kloc was on"),
    Command("policy", SERVER, "change the policy while kloc is on"),
    Command("limit", SERVER, "limit page cache in fast memory"),
    Command("config", SERVER, "check kloc.toml"),
    Command("status", SERVER, "show settings, counters and totals of contexts"),
    Command("metrics", SERVER, "print or serve metrics for Prometheus"),
    Command("top", SERVER, "show the contexts, largest first"),
    Command("exec", SERVER, "run a command whose files get contexts", takes_program=True),
    Command("choose", SERVER, "choose running processes and cgroups whose files get contexts"),
    Command("release", SERVER, "undo kloc choose"),
    Command("scheme", SCHEMES, "check, show, apply and stop schemes"),
    Command("tune", SCHEMES, "find the best threshold of a scheme", takes_program=True),
    Command("heatmap", SCHEMES, "show which memory is accessed when", takes_program=True),
    Command("cold", SCHEMES, "show how much memory was not accessed, and of which kind"),
    Command("shell", DEVELOP, "open a shell in the machine", _MEASURE_EXTRA, check=_LABORATORY),
    Command(
        "kernel",
        DEVELOP,
        "build the kernel, or work on it as a git tree",
        _MEASURE_EXTRA,
        check=_LABORATORY,
        in_checkout=("package", "export"),
    ),
    Command(
        "pins",
        DEVELOP,
        "show or move the pinned versions of packages",
        _MEASURE_EXTRA,
        check=_LABORATORY,
        in_checkout=("--update",),
    ),
    Command(
        "package",
        DEVELOP,
        "build the Debian package of the commands for servers",
        _MEASURE_EXTRA,
        check=paths.require_checkout,
    ),
    Command(
        "test",
        DEVELOP,
        "run the tests and the linters",
        (*_MEASURE_EXTRA, "tune", "dev"),
        check=paths.require_checkout,
    ),
    Command("doctor", DEVELOP, "check this host, show and prune the cache directory"),
    Command("completion", DEVELOP, "print code that lets your shell complete kloc"),
)


ALL = tuple(form for command in COMMANDS for form in (command, *command.forms))
"""The commands and their forms."""


def find(name: str) -> Command:
    """Return the command called `name`. Raises UsageError if there is none."""
    for command in COMMANDS:
        if name == command.name:
            return command
    similar = closest(name, [command.name for command in COMMANDS])
    guess = f", did you mean '{similar}'?" if similar else ""
    raise UsageError(f"unknown command '{name}'{guess}", "kloc --help lists the commands")
