# SPDX-License-Identifier: GPL-2.0
"""Applies schemes with DAMON on the running system, and restores what was there before.

DAMON's sysfs files take new settings only while all kdamonds are off, so kloc needs DAMON for
itself. It never stops a kdamond that it did not start. What it found and what it started is
recorded in RECORD, so that `kloc scheme stop` can restore it even if kloc was killed.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from kloc.base import files, numa
from kloc.base.errors import KlocError
from kloc.base.ranges import Ranges, without
from kloc.schemes import sysfs
from kloc.schemes.scheme import Scheme
from kloc.schemes.sysfs import ADMIN, KDAMONDS, Attributes, Kdamond, Physical, Processes, Target

_T = TypeVar("_T")

ROOT = Path("/")
"""The directory that all paths are relative to; tests set another one."""

RECORD = "/run/kloc/damon.json"
"""What kloc started, and what DAMON's files had before."""

LOCK = "/run/kloc/damon.lock"
"""Locked by the kloc that changes DAMON."""

STATE = f"{KDAMONDS}/0/state"

MODULES = ("damon_reclaim", "damon_lru_sort", "damon_stat")
"""Parts of the kernel that use DAMON themselves, and then exclude all others."""

BUSY_SECONDS = 2.0
"""How long a file may be locked by another reader or writer."""

BUSY_POLL_SECONDS = 0.02
"""How long to wait before a locked file is tried again."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

AS_ROOT = "run this command as root, for example with sudo"


HOW_TO_RESTORE = "kloc scheme stop restores the settings from before kloc once DAMON is off"


class Damon:
    """DAMON while kloc has it; `taken` makes one."""

    def __init__(self, before: Sequence[sysfs.Write]) -> None:
        self.before = before
        self.kept = False
        self._target: Target | None = None

    def apply(self, schemes: Sequence[Scheme], attributes: Attributes, target: Target) -> None:
        """Run the schemes on the target, in place of those that ran before. Raises KlocError."""
        self.run([(target, schemes)], attributes)

    def run(self, parts: Sequence[sysfs.Part], attributes: Attributes, memory: Ranges = ()) -> None:
        """Run a kdamond for each part, in place of those that ran before. Raises KlocError.

        `memory` is what this system has, if the parts are of physical memory; `new_memory` compares
        with it.
        """
        todo = sysfs.setting_writes(parts, attributes)
        todo += [(f"{KDAMONDS}/{number}/state", "on") for number in range(len(parts))]
        self.stop()
        _record(self.before, [], memory)
        for path, text in todo:
            try:
                write(path, text)
            except OSError as error:
                raise _explained(error, path, text, parts) from error
        self._target = parts[0][0]
        _record(self.before, [one.pid for one in kdamonds()], memory)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are watched, in the order of DAMON's targets."""
        return self._target.pids if isinstance(self._target, Processes) else ()

    def retarget(self, pids: Sequence[int]) -> bool:
        """Let the running schemes watch other processes. Nothing happens if these are the same.

        Return whether these are watched now, in the order of `pids` of this object: what DAMON
        knows of a process stays with it. The kernel looks at a new process after the update
        interval. A process may end at any time, so that its pid is refused; then the next call
        tries again.
        """
        before = self.pids
        if not pids or set(pids) == set(before) or not runs():
            return set(pids) == set(before)
        target = Processes(tuple(sysfs.numbered(before, pids)))
        with suppress(OSError):
            for path, text in sysfs.target_writes(target, before=before):
                write(path, text)
            write(STATE, "commit")
            self._target = target
        return target == self._target

    def stop(self) -> None:
        """Stop what `apply` or `run` started. Raises KlocError if it does not stop."""
        _stop_all()
        self._target = None

    def keep(self) -> None:
        """Leave the schemes applied at the end, for `stop_kept`."""
        self.kept = True


def check(verb: str = "change") -> None:
    """Raise KlocError unless this kernel has DAMON's files and this user may write them.

    `verb` says in the error what the user wanted to do with the settings.
    """
    if not path_of(KDAMONDS).exists():
        raise KlocError(
            f"this kernel, Linux {os.uname().release}, has no DAMON: {ADMIN} does not exist",
            "boot a kernel with CONFIG_DAMON_SYSFS and CONFIG_DAMON_VADDR (Debian's have them)",
        )
    if not os.access(path_of(f"{KDAMONDS}/nr_kdamonds"), os.W_OK):
        raise KlocError(f"only root may {verb} the settings of DAMON", AS_ROOT)


def kdamonds(update: bool = False) -> list[Kdamond]:
    """Return all kdamonds, as DAMON's files have them. Raises KlocError without DAMON or access.

    With `update`, running ones first bring their statistics up to date.
    """
    check("read")
    found = sysfs.read(read_all())
    if update and any(kdamond.running for kdamond in found):
        for kdamond in found:
            if kdamond.running:
                # It may end at any time.
                with suppress(OSError):
                    write(f"{KDAMONDS}/{kdamond.number}/state", sysfs.UPDATE_STATS)
        found = sysfs.read(read_all())
    return found


def runs() -> bool:
    """Return whether the first kdamond runs."""
    return _read(STATE) == "on"


def is_own(kdamond: Kdamond) -> bool:
    """Return whether kloc started this kdamond and left it running."""
    record = _recorded()
    return record is not None and kdamond.pid is not None and kdamond.pid in record["pids"]


@contextmanager
def taken() -> Iterator[Damon]:
    """Take DAMON for the block; at its end, restore what was there, unless the block keeps it.

    Raises KlocError if somebody else uses DAMON, or if schemes that kloc applied still run.
    """
    check()
    with _locked():
        before = _take()
        damon = Damon(before)
        try:
            yield damon
        except BaseException:
            _give_back(before)
            raise
        if not damon.kept:
            _give_back(before)


def stop_kept() -> bool:
    """Stop what kloc applied and left, and restore what was there before.

    Return whether there was something to stop. Raises KlocError if others run a kdamond.
    """
    check()
    with _locked():
        record = _recorded()
        found = [kdamond for kdamond in kdamonds() if kdamond.running]
        others = [kdamond for kdamond in found if not is_own(kdamond)]
        if others:
            raise busy(others[0])
        if record is None:
            return False
        _give_back([(path, text) for path, text in record["before"]])
        return bool(found)


def busy(kdamond: Kdamond) -> KlocError:
    """Return the error that another program runs a kdamond."""
    actions = ", ".join(scheme.action for scheme in kdamond.schemes) or "no scheme"
    return KlocError(
        f"DAMON is in use: kdamond {kdamond.number} (process {kdamond.pid}) runs {actions} on "
        f"{describe(kdamond.target)}, and kloc did not start it",
        "DAMON takes new settings only when it is off. Stop it with the program that started it, "
        f"such as damo stop, or as root: echo off > {KDAMONDS}/{kdamond.number}/state. "
        "kloc scheme show lists what runs",
    )


def describe(target: Target) -> str:
    """Return a target in words."""
    if isinstance(target, Physical):
        return "physical memory"
    pids = ", ".join(map(str, target.pids))
    return f"process{'es' if len(target.pids) > 1 else ''} {pids or 'none'}"


def physical_memory() -> Physical:
    """Return all RAM, which DAMON must be told. Raises KlocError if only root may know it."""
    ranges = numa.ram(path_of("/proc/iomem").read_text())
    if not ranges:
        raise KlocError("/proc/iomem does not tell where the RAM is", AS_ROOT)
    return Physical(tuple(ranges))


def new_memory() -> list[tuple[int, int]]:
    """Return the memory that came after kloc applied a scheme to all memory, none without one.

    DAMON monitors what it was told at first. Raises KlocError like `physical_memory`.
    """
    known = (_recorded() or {}).get("memory")
    return without(physical_memory().ranges, known) if known else []


def read_all() -> dict[str, str]:
    """Return the contents of all of DAMON's files that can be read, by path."""
    found = {}
    for path in path_of(ADMIN).rglob("*"):
        if path.is_file():
            name = f"/{path.relative_to(ROOT)}"
            text = _read(name)
            if text is not None:
                found[name] = text
    return found


def write(path: str, text: str) -> None:
    """Write to a file. It is tried again while another reader or writer has DAMON locked.

    Raises OSError.
    """
    _repeated_while_locked(lambda: write_once(path, text), stays_busy=lambda: _stays_busy(path))


def write_once(path: str, text: str) -> None:
    """Write to a file. Raises OSError."""
    # Unbuffered: the kernel gets one write, and its error comes from here.
    with path_of(path).open("wb", buffering=0) as file:
        file.write(text.encode())


def _stays_busy(path: str) -> bool:
    """Return whether a file is busy because DAMON runs, and not because it is locked."""
    if excluding() is not None:
        return True
    made = path == f"{KDAMONDS}/nr_kdamonds"
    return made and any(kdamond.running for kdamond in sysfs.read(read_all()))


def excluding() -> str | None:
    """Return the part of the kernel that keeps DAMON for itself, None if there is none."""
    for name in MODULES:
        if _read(f"/sys/module/{name}/parameters/enabled") == "Y":
            return name
    return None


def path_of(path: str) -> Path:
    """Return an absolute path below ROOT."""
    return ROOT / path.lstrip("/")


@contextmanager
def _locked() -> Iterator[None]:
    """Keep other kloc from changing DAMON during the block. Raises KlocError if one does."""
    busy = KlocError("another kloc is using DAMON", "let it end, or end it with Ctrl-C")
    with files.locked(path_of(LOCK), busy):
        yield


def check_free() -> None:
    """Raise KlocError unless this user may take DAMON now: it exists, and nobody uses it."""
    module = excluding()
    running = [kdamond for kdamond in kdamonds() if kdamond.running]
    if running and is_own(running[0]):
        raise KlocError(
            f"kloc already applies a scheme to {describe(running[0].target)}",
            "kloc scheme stop ends it",
        )
    if running:
        raise busy(running[0])
    if module is not None:
        raise _excluded(module)


def _take() -> list[sysfs.Write]:
    """Return the writes that restore what is there. Raises KlocError if DAMON is in use."""
    check_free()
    record = _recorded()
    if record is not None:
        # A kdamond ends with its target, and a killed kloc restores nothing.
        return [(path, text) for path, text in record["before"]]
    return sysfs.restoring(read_all())


def _give_back(before: Sequence[sysfs.Write]) -> None:
    """Stop what kloc started and restore DAMON's files; signals wait until this is done.

    Raises KlocError; then RECORD stays, for `stop_kept`.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        _stop_all()
        try:
            write(f"{KDAMONDS}/nr_kdamonds", "0")
        except OSError as error:
            raise KlocError(
                f"DAMON's settings are not restored: {error.filename}: {error.strerror}",
                HOW_TO_RESTORE,
            ) from error
        for path, text in before:
            # Some settings can be read but not written back; the others matter more.
            with suppress(OSError):
                write(path, text)
        path_of(RECORD).unlink(missing_ok=True)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _stop_all() -> None:
    """Stop all kdamonds that run. Raises KlocError if one does not stop."""
    for kdamond in sysfs.read(read_all()):
        if kdamond.running:
            _stop(f"{KDAMONDS}/{kdamond.number}/state")


def _stop(state: str) -> None:
    """Stop the kdamond with this file. It may end by itself, with its target, at any time."""
    try:
        write(state, "off")
    except OSError as error:
        if _read(state) != "on":
            return
        raise KlocError(
            f"DAMON does not stop: {state}: {error.strerror}", HOW_TO_RESTORE
        ) from error


def _record(before: Sequence[sysfs.Write], pids: Sequence[int | None], memory: Ranges) -> None:
    path = path_of(RECORD)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, json.dumps({"pids": pids, "before": before, "memory": memory}))


def _recorded() -> dict[str, Any] | None:
    """Return what RECORD has, None if kloc has DAMON in no use."""
    text = _read(RECORD)
    return json.loads(text) if text else None


def _read(path: str) -> str | None:
    """Return a file's text without surrounding blanks, None if it cannot be read."""
    with suppress(OSError):
        return _repeated_while_locked(lambda: path_of(path).read_text().strip())
    return None


def _repeated_while_locked(
    action: Callable[[], _T], stays_busy: Callable[[], bool] = lambda: False
) -> _T:
    """Return what `action` returns; repeat it while another reader or writer has DAMON locked.

    `stays_busy` says that waiting is in vain. Raises OSError.
    """
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return action()
        except OSError as error:
            if error.errno != errno.EBUSY or stays_busy() or time.monotonic() > end:
                raise
            time.sleep(BUSY_POLL_SECONDS)


def _excluded(module: str) -> KlocError:
    return KlocError(
        f"the kernel's {module} uses DAMON, which excludes all others",
        f"as root: echo N > /sys/module/{module}/parameters/enabled",
    )


def _explained(error: OSError, path: str, text: str, parts: Sequence[sysfs.Part]) -> KlocError:
    """Return the error for a write that the kernel refused when the parts were to run."""
    target = parts[0][0]
    module = excluding()
    if error.errno == errno.EBUSY and module is not None:
        return _excluded(module)
    if error.errno == errno.EBUSY:
        running = [kdamond for kdamond in sysfs.read(read_all()) if kdamond.running]
        if running:
            return busy(running[0])
        return KlocError("another program uses DAMON", "stop it, then try again")
    if error.errno in (errno.EACCES, errno.EPERM):
        return KlocError("only root may change the settings of DAMON", AS_ROOT)
    if path.endswith("/operations"):
        option = "CONFIG_DAMON_VADDR" if text == "vaddr" else "CONFIG_DAMON_PADDR"
        return KlocError(
            f"this kernel's DAMON cannot monitor {describe(target)}: it has no operations {text}",
            f"boot a kernel with {option}",
        )
    groups = [
        str(one.value)
        for _, schemes in parts
        for scheme in schemes
        for one in scheme.filters
        if one.kind == "memcg"
    ]
    if path.endswith("/state") and groups and error.errno in (errno.ENOMEM, errno.EINVAL):
        return KlocError(
            f"DAMON did not start ({error.strerror}): probably a cgroup of the scheme, "
            f"{', '.join(dict.fromkeys(groups))}, has been removed",
            "systemd-cgls lists cgroups; apply the scheme again once it exists",
        )
    if path == STATE and isinstance(target, Processes):
        return KlocError(
            f"DAMON refused to monitor {describe(target)}: {error.strerror}",
            "ps -e lists the processes; one that has ended, or a kernel thread, cannot be a target",
        )
    return KlocError(
        f"DAMON refused '{text}' for {path}: {error.strerror}",
        "this kernel may lack the feature; kloc is made for those of Linux 6.12",
    )
