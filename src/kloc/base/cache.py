# SPDX-License-Identifier: GPL-2.0
"""The cache directory: keeps everything that is built or fetched, outside the checkout.

<cache>/<kind>/<key>/       an entry: what one `build` call made; complete, or absent
<cache>/<kind>/<key>.used   its modification time is the entry's last use; users hold a shared lock
<cache>/<kind>/<key>.lock   locked by the process that builds or removes the entry
<cache>/scratch/            directories of runs in progress, and of the last ones that failed
"""

import fcntl
import hashlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from kloc.base import progress
from kloc.base.errors import KlocError

OLD_DAYS = 30
"""Entries that were not used for so many days are old."""

FAILED_KEPT = 3
"""How many scratch directories of failed runs are kept."""

TEMPORARY_SCRATCH = Path("/tmp/kloc-scratch")
"""With the user's id behind it: where runs are if the cache directory cannot be written."""

RUNNING = ".running"
"""File in a scratch directory that its process keeps locked."""

FAILED = ".failed"
"""File in a scratch directory whose run failed."""

DRAFT = ".draft"
"""Suffix of an entry that is being built or removed."""

_chosen_directory: Path | None = None

_held: dict[Path, IO[str]] = {}
"""Entries that this process uses, with the open files that hold their shared locks."""

_requested: set[Path] | None = None
"""During `dry_run`: the entries that `build` was asked for."""


def use_directory(path: Path) -> None:
    """Use `path` as the cache directory from now on (the `--cache` option)."""
    global _chosen_directory
    _chosen_directory = path.absolute()


def directory() -> Path:
    """Return the cache directory: `--cache`, $KLOC_CACHE or ~/.cache/kloc. Create it if missing.

    Raises KlocError if it cannot be created.
    """
    path = _chosen_directory or _default_directory()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KlocError(
            f"cannot create the cache directory {path}: {error.strerror}",
            hint="choose another one with --cache DIR or KLOC_CACHE",
        ) from error
    return path


def _default_directory() -> Path:
    if path := os.environ.get("KLOC_CACHE"):
        return Path(path).absolute()
    if path := os.environ.get("XDG_CACHE_HOME"):
        return Path(path) / "kloc"
    return _home() / ".cache" / "kloc"


def _home() -> Path:
    """Return the user's home directory. Raises KlocError if there is none."""
    if home := os.environ.get("HOME"):
        return Path(home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError as error:
        raise KlocError(
            "HOME is not set, and this user has no home directory",
            "choose the directory for what kloc builds with --cache DIR or KLOC_CACHE",
        ) from error


def key(*parts: bytes | str | Path) -> str:
    """Return a hash of the contents of `parts`, 20 hexadecimal digits.

    A Path stands for its contents: the bytes and the execute bit of a file, or the names, links and
    files of a directory. Its location, its times and `__pycache__` are ignored.
    """
    digest = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            digest.update(len(piece).to_bytes(8, "little"))
            digest.update(piece)
    return digest.hexdigest()[:20]


def _pieces(part: bytes | str | Path) -> Iterator[bytes]:
    if isinstance(part, bytes):
        yield part
    elif isinstance(part, str):
        yield part.encode()
    elif part.is_symlink():
        yield b"link"
        yield os.fsencode(part.readlink())
    elif part.is_dir():
        yield b"folder"
        for child in sorted(part.iterdir()):
            if child.name != "__pycache__":
                yield os.fsencode(child.name)
                yield from _pieces(child)
    else:
        yield b"program" if os.access(part, os.X_OK) else b"file"
        yield part.read_bytes()


def build(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the entry <cache>/<kind>/<key>. If it is missing, let `make` fill its directory.

    Processes that want the same entry share one build. If `make` raises, no entry is left. The
    entry counts as in use until this process ends.
    """
    parent = directory() / kind
    entry = parent / key
    if _requested is not None:
        _requested.add(entry)
        return entry
    if entry.is_dir() and not is_writable():
        hold(entry)
        return entry
    require_writable(f"{kind} {key}")
    parent.mkdir(exist_ok=True)
    hold(entry)
    if entry.is_dir():
        return entry
    with locked(parent / f"{key}.lock", f"building {kind} {key}"):
        if not entry.is_dir():
            _fill(entry, make)
    return entry


def is_missing(kind: str, key: str) -> bool:
    """Return whether `build` would make the entry now; not in `dry_run`, which makes none."""
    return _requested is None and not (directory() / kind / key).is_dir()


def is_writable() -> bool:
    """Return whether this process may write to the cache directory.

    One that is shared read-only, by another user for example, works as long as it has all that is
    needed.
    """
    return os.access(directory(), os.W_OK | os.X_OK)


def require_writable(missing: str) -> None:
    """Raise KlocError if `missing` has to be written to the cache directory, and cannot be."""
    if not is_writable():
        raise KlocError(
            f"the cache directory {directory()} has no {missing}, and it cannot be written",
            "let a user who may write to it run this once, or choose another one with --cache DIR",
        )


def hold(entry: Path) -> None:
    """Mark `entry`, which need not exist yet, as in use now and until this process ends.

    In a cache that cannot be written, this keeps it from being removed, if it was used before.
    """
    mark = _sibling(entry, "used")
    if not is_writable():
        if entry not in _held and os.access(mark, os.R_OK):
            file = mark.open()
            fcntl.flock(file, fcntl.LOCK_SH)
            _held[entry] = file
        return
    if entry not in _held:
        file = mark.open("a")
        # Blocks while another process removes the entry.
        fcntl.flock(file, fcntl.LOCK_SH)
        _held[entry] = file
    os.utime(mark)


@contextmanager
def dry_run() -> Iterator[set[Path]]:
    """Let `build` build nothing in the block; yield the set of entries that it is asked for.

    The paths that `build` returns in the block need not exist.
    """
    global _requested
    _requested = set()
    try:
        yield _requested
    finally:
        _requested = None


def entries(kind: str) -> list[Path]:
    """Return the entries of a kind, including those whose build was killed."""
    parent = directory() / kind
    names = {path.name.removesuffix(DRAFT) for path in parent.glob("*") if path.is_dir()}
    return sorted(parent / name for name in names if re.fullmatch("[0-9a-f]{20}", name))


def entry_directories(entry: Path) -> list[Path]:
    """Return the directories that exist for one of `entries`: the complete one, the draft."""
    candidates = (entry, entry.with_name(entry.name + DRAFT))
    return [path for path in candidates if path.is_dir()]


def last_used(entry: Path) -> float:
    """Return when one of `entries` was last used or built, in seconds since 1970."""
    marks = [_sibling(entry, "used"), _sibling(entry, "lock"), *entry_directories(entry)]
    return max((mark.stat().st_mtime for mark in marks if mark.exists()), default=0.0)


def discard(entry: Path) -> bool:
    """Remove one of `entries` unless a process builds or uses it; return whether it is gone."""
    with _sibling(entry, "used").open("a") as used, _sibling(entry, "lock").open("a") as lock:
        try:
            for file in (used, lock):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Rename first: if this process is killed, a draft remains, never a partial entry.
        draft = entry.with_name(entry.name + DRAFT)
        remove(draft)
        if entry.exists():
            entry.rename(draft)
            remove(draft)
    return True


def _sibling(entry: Path, suffix: str) -> Path:
    return entry.with_name(f"{entry.name}.{suffix}")


def _fill(entry: Path, make: Callable[[Path], None]) -> None:
    draft = entry.with_name(entry.name + DRAFT)
    remove(draft)
    draft.mkdir()
    try:
        make(draft)
    except BaseException:
        remove(draft)
        raise
    draft.rename(entry)


@contextmanager
def locked(lock: Path, activity: str) -> Iterator[None]:
    """Hold the file `lock` while the block runs.

    While another process holds it, progress shows that process's id and `activity`, such as
    "building the kernel".
    """
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            with progress.shown(f"waiting for process {holder}, {activity}"):
                fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def remove(path: Path) -> None:
    """Remove a directory and its contents, read-only directories included. It may be missing."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        subprocess.run(["chmod", "--recursive", "u+rwx", path], check=True)
        shutil.rmtree(path)


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Yield a new directory for one run of `name`. Remove it at the end unless the run fails.

    It is in the cache directory, or if that cannot be written in TEMPORARY_SCRATCH.

    The directories of the last FAILED_KEPT failed runs are kept, because error messages name log
    files in them. An interrupted run does not count as failed.
    """
    parent = directory() / "scratch"
    if not is_writable():
        parent = TEMPORARY_SCRATCH.with_name(f"{TEMPORARY_SCRATCH.name}-{os.getuid()}")
        parent.mkdir(mode=0o700, exist_ok=True)
        if parent.lstat().st_uid != os.getuid() or parent.is_symlink():
            raise KlocError(f"{parent} belongs to another user", "remove it, or choose --cache DIR")
    parent.mkdir(exist_ok=True)
    with _scratch_locked(parent):
        _remove_old_runs(parent)
        run = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
        mark = (run / RUNNING).open("w")
        fcntl.flock(mark, fcntl.LOCK_EX)
    with mark:
        try:
            yield run
        except Exception:
            (run / FAILED).touch()
            raise
        finally:
            if not (run / FAILED).exists():
                with _scratch_locked(parent):
                    remove(run)


def _scratch_locked(parent: Path) -> AbstractContextManager[None]:
    """Keep two processes from removing the same scratch directories at once."""
    return locked(parent / ".lock", "removing old scratch directories")


def _remove_old_runs(parent: Path) -> None:
    """Remove the directories of killed runs, and of all but the last few failed runs."""
    ended = [run for run in parent.iterdir() if run.is_dir() and not _is_running(run)]
    failed = [run for run in ended if (run / FAILED).exists()]
    failed.sort(key=lambda run: run.stat().st_mtime)
    for run in set(ended) - set(failed[-FAILED_KEPT:]):
        remove(run)


def _is_running(run: Path) -> bool:
    try:
        with (run / RUNNING).open() as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
