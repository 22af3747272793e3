# SPDX-License-Identifier: GPL-2.0
"""`kloc test`: runs every check that a change has to pass."""

from __future__ import annotations

import argparse
import os

from kloc.base import cache
from kloc.base.errors import UsageError
from kloc.base.paths import PROJECT
from kloc.build import kernel, kernel_source, plugin, qemu, root
from kloc.commands import options
from kloc.measure import runner

TESTS = PROJECT / "tests"

UPDATE_VARIABLE = "KLOC_UPDATE_GOLDEN"
"""The environment variable that has tests write the files in tests/golden, not compare them."""

GOLDEN_CALL = "golden.check("
"""What all test files contain that compare printed text with tests/golden."""

WORKER_MEMORY = 4 << 30
"""The memory that a process of tests needs: two machines, which a comparison runs at once."""

INTERRUPTED = 130

USAGE = ("[options] [TEST...]",)

DESCRIPTION = """\
Run the tests of the Python code, of the timing model, of the kernel and inside the machine, and the
linters. Everything that they need is built first. Files of tests are run side by side, one on each
core.
"""

EXAMPLES = (
    ("kloc test", "everything, except tests that take long"),
    ("kloc test tests/unit -k policy", "some unit tests"),
    ("kloc test --update-golden", "accept changes in printed text"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own arguments and options."""
    group = parser.add_argument_group("arguments")
    group.add_argument(
        "tests", nargs="*", metavar="TEST", help="a test file or test to run (default: all)"
    )
    group = parser.add_argument_group("selection")
    group.add_argument("--soak", action="store_true", help="run the tests that take long, too")
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

    arguments = [f"--rootdir={PROJECT}", "-p", "no:cacheprovider", "--durations=10"]
    arguments += [] if args.soak else ["-m", "not soak"]
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
        # The tests of a file share machines, and so a process. Those that take long begin.
        arguments += ["--numprocesses", str(_workers()), "--dist", "loadfile"]
        arguments += ["--no-loadscope-reorder"]
    with cache.scratch("test") as directory:
        status = pytest.main([*arguments, f"--basetemp={directory / 'tests'}", *tests])
    return INTERRUPTED if status == pytest.ExitCode.INTERRUPTED else int(status)


def _build() -> None:
    """Build what most tests need, so that this is shown, and not done while tests wait for it."""
    root.tool_root()
    kernel_source.unpatched_source()
    qemu.build()
    kernel.build()
    plugin.build()


def _workers() -> int:
    """Return how many processes run tests: one for each core, if there is enough memory."""
    fitting = runner.available_memory() // WORKER_MEMORY
    return max(1, min(len(os.sched_getaffinity(0)), fitting))


def golden_tests() -> list[str]:
    """Return the test files that compare printed text with tests/golden."""
    return sorted(str(path) for path in TESTS.rglob("test_*.py") if GOLDEN_CALL in path.read_text())
