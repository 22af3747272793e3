# SPDX-License-Identifier: GPL-2.0
"""The folder outside the checkout where all that is built or fetched is kept, by content.

<cache>/<kind>/<key>/   what `build` made, whole or not there at all
<cache>/<kind>/<key>.used   its time: when that was last used; locked by those who use it
<cache>/scratch/        folders of runs under way, and of the last ones that failed
"""

import fcntl
import hashlib
import os
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

FAILED_KEPT = 3
"""How many folders of failed runs are kept."""

RUNNING = ".running"
FAILED = ".failed"
"""What marks a scratch folder: locked while its process lives, there once the run has failed."""

DRAFT = ".draft"
"""The end of the name of what is being made."""

_chosen: Path | None = None

_held: dict[Path, IO[str]] = {}
"""What this process uses, with the locks that say so."""

_noted: set[Path] | None = None
"""What `build` was asked for, while it makes nothing."""


def use(folder: Path) -> None:
    """Use `folder` from here on (the `--cache` option)."""
    global _chosen
    _chosen = folder.absolute()


def folder() -> Path:
    """Return the cache folder, made if need be: `--cache`, $KLOC_CACHE or ~/.cache/kloc."""
    where = _chosen or _default()
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KlocError(
            f"the cache folder {where} cannot be made: {error.strerror}",
            hint="choose another one with --cache DIR or KLOC_CACHE",
        ) from error
    return where


def _default() -> Path:
    if named := os.environ.get("KLOC_CACHE"):
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kloc"


def key(*parts: bytes | str | Path) -> str:
    """Return a hash of the contents of `parts`.

    A Path stands for what it holds: a file's bytes and execute bit, or a folder's names, links and
    files. Where it lies and when it was written does not count.
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
    """Return the folder <cache>/<kind>/<key>; if it is not there, `make` fills it first.

    Two processes that want the same share one build. A `make` that raises leaves nothing. It is in
    use until this process ends.
    """
    shelf = folder() / kind
    result = shelf / key
    if _noted is not None:
        _noted.add(result)
        return result
    shelf.mkdir(exist_ok=True)
    hold(result)
    if result.is_dir():
        return result
    with locked(shelf / f"{key}.lock", f"{kind} {key}"):
        if not result.is_dir():
            _make(result, make)
    return result


def hold(result: Path) -> None:
    """Note that what is, or will be, at `result` is used now, and until this process ends."""
    mark = _beside(result, "used")
    if result not in _held:
        file = mark.open("a")
        # This waits while somebody removes it.
        fcntl.flock(file, fcntl.LOCK_SH)
        _held[result] = file
    os.utime(mark)


@contextmanager
def noting() -> Iterator[set[Path]]:
    """Let `build` make nothing in the block, but note in the set that is given what is asked for.

    What it returns need not be there then.
    """
    global _noted
    _noted = set()
    try:
        yield _noted
    finally:
        _noted = None


def entries(kind: str) -> list[Path]:
    """Return what `build` made of a kind, and what builds that were killed left of it."""
    shelf = folder() / kind
    names = {path.name.removesuffix(DRAFT) for path in shelf.glob("*") if path.is_dir()}
    return sorted(shelf / name for name in names if re.fullmatch("[0-9a-f]{20}", name))


def folders(result: Path) -> list[Path]:
    """Return the folders that one of `entries` consists of."""
    both = (result, result.with_name(result.name + DRAFT))
    return [path for path in both if path.is_dir()]


def last_used(result: Path) -> float:
    """Return when one of `entries` was last used, or made, in seconds since 1970."""
    marks = [_beside(result, "used"), _beside(result, "lock"), *folders(result)]
    return max((mark.stat().st_mtime for mark in marks if mark.exists()), default=0.0)


def discard(result: Path) -> bool:
    """Remove one of `entries`; say whether it is gone. What a process makes or uses stays."""
    with _beside(result, "used").open("a") as used, _beside(result, "lock").open("a") as lock:
        try:
            for file in (used, lock):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Who dies in the middle leaves a draft, and nothing that looks whole.
        draft = result.with_name(result.name + DRAFT)
        remove(draft)
        if result.exists():
            result.rename(draft)
            remove(draft)
    return True


def _beside(result: Path, suffix: str) -> Path:
    return result.with_name(f"{result.name}.{suffix}")


def _make(result: Path, make: Callable[[Path], None]) -> None:
    draft = result.with_name(result.name + DRAFT)
    remove(draft)
    draft.mkdir()
    try:
        make(draft)
    except BaseException:
        remove(draft)
        raise
    draft.rename(result)


@contextmanager
def locked(lock: Path, what: str) -> Iterator[None]:
    """Hold `lock` while the block runs; say so if another process holds it, working on `what`."""
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            with progress.shown(f"waiting for process {holder}, which makes {what}"):
                fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def remove(path: Path) -> None:
    """Remove a folder and what is in it, read-only folders too; it need not be there."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        subprocess.run(["chmod", "--recursive", "u+rwx", path], check=True)
        shutil.rmtree(path)


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Give a folder for one run of `name`; removed at the end, kept where the run fails.

    An interrupted run is not a failed one. Of the failed ones the last few are kept, so that the
    log that an error message names is there to read.
    """
    shelf = folder() / "scratch"
    shelf.mkdir(exist_ok=True)
    with _tidying(shelf):
        _tidy(shelf)
        run = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=shelf))
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
                with _tidying(shelf):
                    remove(run)


def _tidying(shelf: Path) -> AbstractContextManager[None]:
    """Let no two processes tidy up the same folders at once."""
    return locked(shelf / ".lock", "order among the folders of runs")


def _tidy(shelf: Path) -> None:
    """Remove what killed runs left behind, and all but the last few failed ones."""
    over = [run for run in shelf.iterdir() if run.is_dir() and not _running(run)]
    failed = [run for run in over if (run / FAILED).exists()]
    failed.sort(key=lambda run: run.stat().st_mtime)
    for run in set(over) - set(failed[-FAILED_KEPT:]):
        remove(run)


def _running(run: Path) -> bool:
    try:
        with (run / RUNNING).open() as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
