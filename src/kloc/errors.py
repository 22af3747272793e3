# SPDX-License-Identifier: GPL-2.0
"""The one error that people see, and how it is worded."""

import difflib
from collections.abc import Iterable


class KlocError(Exception):
    """Something a person did or met: what it was, and (`hint`) what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        """Keep `message` (no capital, no full stop) and `hint` for the command line to print."""
        super().__init__(message)
        self.message = message
        self.hint = hint


def unknown(what: str, name: str, known: Iterable[str]) -> KlocError:
    """Return the error for a `what` (say "policy") called `name` that is not among `known`."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f", did you mean '{near[0]}'?" if near else ""
    there_are = ", ".join(names) if names else "none"
    return KlocError(f"unknown {what} '{name}'{guess}", hint=f"there are: {there_are}")
