# SPDX-License-Identifier: GPL-2.0
"""The one error that people see, and how it is worded."""

import difflib
import errno
import subprocess
from collections.abc import Iterable

NO_SPACE = (
    "make room: kloc doctor says where it is missing, kloc doctor --prune removes what is old; "
    "or choose another cache folder with --cache DIR"
)
NOT_ALLOWED = (
    "see to it that you may use it; another cache folder is chosen with --cache DIR or KLOC_CACHE"
)
HINTS = {
    errno.ENOSPC: NO_SPACE,
    errno.EDQUOT: NO_SPACE,
    errno.EACCES: NOT_ALLOWED,
    errno.EPERM: NOT_ALLOWED,
    errno.EROFS: NOT_ALLOWED,
}
"""What to do about an error of the system's."""


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


def explained(error: OSError | subprocess.CalledProcessError) -> KlocError:
    """Return what the system, or a program of the host's, refused, and what to do about it."""
    if isinstance(error, subprocess.CalledProcessError):
        return KlocError(
            f"{error.cmd[0]} failed (status {error.returncode})",
            "what it said is above; kloc doctor says whether there is room",
        )
    reason = error.strerror or str(error)
    named = f"{error.filename}: " if error.filename is not None else ""
    return KlocError(named + reason, HINTS.get(error.errno or 0))
