# SPDX-License-Identifier: GPL-2.0
"""`kloc test`: every check that a change has to pass."""

import argparse

from kloc.base import cache, environment, progress
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT

NAME = "test"
HELP = "run the tests: of the Python code, of the timing model, inside the machine; and the linters"

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kloc test`."""
    parser.add_argument("--soak", action="store_true", help="run the tests that take long too")
    parser.add_argument("-k", metavar="EXPRESSION", help="run only these, as pytest's -k says")
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    parser.add_argument("--dry-run", action="store_true", help="list the tests, run none")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="files or tests (default: all)")


def run(args: argparse.Namespace) -> int:
    """Run pytest with what `args` chooses; return its status."""
    _install()
    import pytest

    options = [f"--rootdir={PROJECT}", "-p", "no:cacheprovider", "--durations=10"]
    options += [] if args.soak else ["-m", "not soak"]
    options += ["-k", args.k] if args.k else []
    options += ["-x"] if args.x else []
    options += ["--collect-only", "--quiet"] if args.dry_run else []
    chosen = args.tests or [str(PROJECT / "tests")]
    with cache.scratch("test") as folder:
        status = pytest.main([*options, f"--basetemp={folder / 'tests'}", *chosen])
    return INTERRUPTED if status == pytest.ExitCode.INTERRUPTED else int(status)


def _install() -> None:
    """Install pytest and the linters into kloc's environment, once."""
    if environment.has("dev"):
        return
    with progress.estimated("installing pytest and the linters", seconds=15):
        failure = environment.install("dev")
    if failure:
        raise KlocError(f"pip could not install pytest and the linters:\n{failure}")
