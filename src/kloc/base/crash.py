# SPDX-License-Identifier: GPL-2.0
"""The last resort for errors that kloc does not expect: one line, and a file with the traceback."""

from __future__ import annotations

import _thread
import os
import platform
import shlex
import sys
import tempfile
import threading
import traceback
from contextlib import suppress

STATUS = os.EX_SOFTWARE
"""The exit status of a kloc that ended with an unexpected error: 70."""


def report(error: BaseException, version: str = "kloc") -> int:
    """Write the traceback of `error` to a file, print one line that names it, return STATUS.

    `version` is for the file. If no file can be written, the traceback follows the line. Nothing is
    raised, even if stderr cannot be written: there is nobody left to tell.
    """
    lines = "".join(traceback.format_exception(error))
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    try:
        line, rest = f"kloc: unexpected {what}; the traceback is in {_written(lines, version)}", ""
    except OSError as failed:
        reason = failed.strerror or failed
        line = f"kloc: unexpected {what}; the traceback cannot be written to a file ({reason}):"
        rest = lines
    with suppress(OSError):
        print(line, rest, sep="\n", end="", file=sys.stderr, flush=True)
    return STATUS


def report_those_of_threads() -> None:
    """From now on, report errors of threads in the same way.

    Ctrl-C while an object is being deleted, which Python prints and then ignores, interrupts kloc
    a moment later.
    """
    threading.excepthook = _report_thread
    sys.unraisablehook = _unraisable


def _report_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit:
        report((args.exc_value or args.exc_type()).with_traceback(args.exc_traceback))


def _unraisable(args: sys.UnraisableHookArgs) -> None:
    if args.exc_type is KeyboardInterrupt:
        # Not at once: that would interrupt this function only.
        again = threading.Timer(0.02, _thread.interrupt_main)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(args)


def _written(text: str, version: str) -> str:
    """Write the traceback with versions and the command line; return the file's path."""
    descriptor, path = tempfile.mkstemp(prefix="kloc-traceback-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{version}, Python {platform.python_version()}, Linux {os.uname().release}\n")
        file.write(f"{shlex.join(sys.argv)}\n\n{text}")
    return path
