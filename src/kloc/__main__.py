# SPDX-License-Identifier: GPL-2.0
"""Runs kloc as `python -m kloc`, as the launcher does, and as the program of a package."""

import signal
import sys


def main() -> int:
    """Run kloc, and return its exit status, after Ctrl-C as well."""
    try:
        from kloc import cli
        from kloc.base import crash, terminal

        terminal.name_stdout()
        crash.report_those_of_threads()
        return cli.main()
    except KeyboardInterrupt:
        return 130
    finally:
        # Python would print a traceback if it was interrupted while it ends.
        if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
