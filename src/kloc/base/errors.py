# SPDX-License-Identifier: GPL-2.0
"""The error type that the command line reports, and the wording of errors and hints."""

import difflib
import errno
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

NO_SPACE = (
    "free disk space: kloc doctor shows which file system is short of it, kloc doctor --prune "
    "removes old cache entries; or choose another cache directory with --cache DIR"
)
NOT_ALLOWED = (
    "choose a writable path (--cache DIR or KLOC_CACHE sets the cache directory), "
    "or run kloc as a user with access"
)
HINTS = {
    errno.ENOSPC: NO_SPACE,
    errno.EDQUOT: NO_SPACE,
    errno.EACCES: NOT_ALLOWED,
    errno.EPERM: NOT_ALLOWED,
    errno.EROFS: NOT_ALLOWED,
}
"""The hint for each error number that has one."""


NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses of shells for programs that do not exist, or may not be executed."""


class KlocError(Exception):
    """An error that the user can act on: `message` says what happened, `hint` what to do next.

    `status` is the exit status of a kloc that ends with this error.
    """

    status = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        """Keep `message` and `hint`, which start in lower case and have no full stop."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KlocError):
    """A command line that names something unknown, or whose parts do not fit together."""

    status = 2


def disk_full(output: str, purpose: str, *directories: Path) -> KlocError | None:
    """Return the error for a program whose output says that a disk is full, None if it does not.

    The error names the fullest of the `directories` that the program writes to, and the `purpose`.
    """
    if not any(os.strerror(number) in output for number in (errno.ENOSPC, errno.EDQUOT)):
        return None
    fullest = min(directories, key=lambda directory: shutil.disk_usage(directory).free)
    return KlocError(f"no space left on {fullest} for {purpose}", NO_SPACE)


def cannot_execute(program: str, error: OSError) -> KlocError:
    """Return the error for a program that cannot be executed; its status is that of shells."""
    # Where $PATH is searched, a directory in it may be a file.
    is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    reason = os.strerror(errno.ENOENT) if is_missing else error.strerror
    explained = KlocError(
        f"cannot execute {program}: {reason}",
        "name a program that exists and may be executed after '--'",
    )
    explained.status = NOT_FOUND if is_missing else NOT_EXECUTABLE
    return explained


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the name in `known` that is most similar to `name`, None if none is similar."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for `name`, which is not among `known`; `what` is, say, "policy"."""
    names = sorted(known)
    similar = closest(name, names)
    guess = f", did you mean '{similar}'?" if similar else ""
    listed = ", ".join(names) if names else "none"
    return UsageError(f"unknown {what} '{name}'{guess}", hint=f"available: {listed}")


def explained(error: OSError | subprocess.CalledProcessError) -> KlocError:
    """Return a KlocError for an error of the operating system or of a host program."""
    if isinstance(error, subprocess.CalledProcessError):
        return KlocError(
            f"{error.cmd[0]} failed (status {error.returncode})",
            "see its output above; kloc doctor shows whether disk space is short",
        )
    reason = error.strerror or str(error)
    prefix = f"{error.filename}: " if error.filename is not None else ""
    return KlocError(prefix + reason, HINTS.get(error.errno or 0))
