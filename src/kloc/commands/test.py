# SPDX-License-Identifier: GPL-2.0
"""`kloc test`: runs every check that a change has to pass."""

from __future__ import annotations

import argparse
import os

from kloc.base import cache, paths
from kloc.base.errors import UsageError
from kloc.build import kernel, kernel_process, kernel_source, plugin, qemu, root
from kloc.commands import options, values
from kloc.measure import runner

TESTS = paths.PROJECT / "tests"

UPDATE_VARIABLE = "KLOC_UPDATE_GOLDEN"
"""The environment variable that has tests write the files in tests/golden, not compare them."""

GOLDEN_CALL = "golden.check("
"""What all test files contain that compare printed text with tests/golden."""

WORKER_MEMORY = 4 << 30
"""The memory that a process of tests needs: two machines, which a comparison runs at once."""

INTERRUPTED = 130

PARTS = 23
"""How many parts of the tests that take long take less than 25 minutes each, on two cores."""

PIECES = 58
"""How many parts there can be at most: that many pieces has tests/support/soak.py."""

USAGE = ("[options] [TEST...]",)

DESCRIPTION = """\
Run the tests of the Python code, of the timing model, of the kernel and inside the machine, and the
linters. Everything that they need is built first. Files of tests are run side by side, one on each
core.
"""

EXAMPLES = (
    ("kloc test", "everything, except tests that take long"),
    ("kloc test tests/unit -k policy", "some unit tests"),
    (f"kloc test --soak --part 1/{PARTS}", "a part of the tests that take long"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "tests", nargs="*", metavar="TEST", help="a test file or test to run (default: all)"
    )
    group = parser.add_argument_group("selection")
    group.add_argument("--soak", action="store_true", help="run the tests that take long, too")
    group.add_argument(
        "--part",
        type=values.part,
        metavar="N/M",
        help="with --soak: run only those that take long, and of these part N of M; with M = "
        f"{PARTS}, no part takes over 25 minutes",
    )
    group.add_argument("-k", metavar="EXPRESSION", help="run the tests that match, as pytest -k")
    group.add_argument("-x", action="store_true", help="stop at the first failure")
    group.add_argument(
        "--update-golden",
        action="store_true",
        help="run the tests that compare printed text with tests/golden, and replace these files",
    )
    options.add(parser.add_argument_group("output"), "dry-run")


def run(args: argparse.Namespace) -> int:
    """Run pytest and return its status."""
    import pytest

    arguments = [f"--rootdir={paths.PROJECT}", "-p", "no:cacheprovider", "--durations=10"]
    arguments += _soak(args)
    arguments += ["-k", args.k] if args.k else []
    arguments += ["-x"] if args.x else []
    arguments += ["--collect-only", "--quiet"] if args.dry_run else []
    tests = args.tests or [str(TESTS)]
    if args.update_golden:
        if args.tests:
            raise UsageError(
                "--update-golden chooses the tests itself", "name no tests, or use -k EXPRESSION"
            )
        os.environ[UPDATE_VARIABLE] = "1"
        tests = golden_tests()
    elif not args.tests and not args.dry_run:
        _build()
        # Many of the tests that take long need both cores.
        arguments += [] if args.part else _side_by_side()
    with cache.scratch("test") as directory:
        status = pytest.main([*arguments, f"--basetemp={directory / 'tests'}", *tests])
    return INTERRUPTED if status == pytest.ExitCode.INTERRUPTED else int(status)


def _soak(args: argparse.Namespace) -> list[str]:
    """Return pytest's arguments that choose among the tests that take long.

    tests/conftest.py has the option --part. Raises UsageError if the options do not fit together.
    """
    if args.part is None:
        return [] if args.soak else ["-m", "not soak"]
    if not args.soak:
        raise UsageError("--part is of the tests that take long", "add --soak")
    if args.tests or args.update_golden:
        raise UsageError("--part chooses the tests itself", "name no tests, or use -k EXPRESSION")
    number, count = args.part
    if count > PIECES:
        raise UsageError(f"--part {number}/{count}: there are {PIECES} parts at most")
    return ["-m", "soak", f"--part={number}/{count}"]


def _build() -> None:
    """Build what most tests need, so that this is shown, and not done while tests wait for it."""
    root.tool_root()
    with kernel_process.building():
        kernel_source.unpatched_source()
        qemu.build()
        plugin.build()
    kernel.build()
    kernel.build("kunit")


def _side_by_side() -> list[str]:
    """Return pytest's arguments that run several files of tests at once."""
    # The tests of a file share machines, and so a process. Those that take long begin.
    parallel = ["--numprocesses", str(_workers()), "--dist", "loadfile"]
    return [*parallel, "--no-loadscope-reorder"]


def _workers() -> int:
    """Return how many processes run tests: one for each core, if there is enough memory."""
    fitting = runner.available_memory() // WORKER_MEMORY
    return max(1, min(len(os.sched_getaffinity(0)), fitting))


def golden_tests() -> list[str]:
    """Return the test files that compare printed text with tests/golden."""
    return sorted(str(path) for path in TESTS.rglob("test_*.py") if GOLDEN_CALL in path.read_text())
