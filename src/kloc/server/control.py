# SPDX-License-Identifier: GPL-2.0
"""Turns kloc on and off: writes settings, remembers what was there before, and restores it.

RECORD has the previous value of each file from before it is first written, so that `turn_off`
restores all of them even if kloc was killed at any point. It is below /run, as a reboot resets the
kernel's settings, too. The policy's daemon is started after the settings are written, and stopped
before they are restored.
"""

from __future__ import annotations

import errno
import json
import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from kloc.base import files, numa
from kloc.base.errors import KlocError
from kloc.server import config, daemons, policy_files, system, tiering
from kloc.server.plan import Plan, Write, limits_of_nodes, make, one_tier
from kloc.server.policy_files import SELECTED
from kloc.server.setting_files import DEBUGFS
from kloc.server.system import AS_ROOT, path_of, read

RECORD = "/run/kloc/server.json"
"""What kloc has set, and what was there before."""

LOCK = "/run/kloc/server.lock"
"""Locked by the kloc that changes settings."""

NODE_LIMIT = re.compile(rf"/{tiering.FOLDER}/node\d+/max_kb")
"""The limit of a node. The file exists only under policies that place page cache."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

DOCUMENTED = (
    "the kernel's Documentation/admin-guide/mm/tiering.rst and ABI/testing/sysfs-kernel-mm-tiering "
    "say what is allowed"
)


@dataclass
class Record:
    """What kloc has set: by which policy and kloc.toml, and the values from before, by file.

    `limits` are those of `kloc limit`, which no kloc.toml has. `complete` is false while settings
    are written or a policy is tried, and after a kill. `daemon` is the policy whose daemon runs,
    None without one.
    """

    policy: str = ""
    config: str | None = None
    complete: bool = False
    before: dict[str, str] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    daemon: str | None = None


@dataclass(frozen=True)
class State:
    """What kloc had set: its record, None if it was off, and the values of the files in it."""

    record: Record | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def recorded() -> Record | None:
    """Return what kloc has set, None if it is off."""
    text = read(RECORD.lstrip("/"))
    return Record(**json.loads(text)) if text else None


def turn_on(settings: config.Config) -> tuple[str, ...]:
    """Set what a kloc.toml says, and restore what an earlier one had set in addition.

    Return notes on what was left out. If something fails, or a signal comes, everything is as
    before. Raises KlocError.
    """
    return _apply(make(settings), settings.file, {})


def change_policy(name: str) -> tuple[str, ...]:
    """Choose another policy while kloc is on, and keep the rest, with the limits of `kloc limit`.

    Return notes like `turn_on`. Raises KlocError, also if kloc is off.
    """
    record = recorded()
    if record is None:
        raise KlocError("kloc is off", f"kloc on --policy {name} turns it on")
    path = Path(record.config) if record.config else None
    settings = replace(config.read(path) if path else config.Config(), policy=name)
    # A limit of a node exists only under policies that place page cache.
    absent = dict(limits_of_nodes(settings))
    return _apply(make(settings, record.limits), path, record.limits, may_lack=absent)


def turn_off() -> bool:
    """Restore what was there before kloc was on; return whether it was on.

    The policy's daemon is stopped first. A signal waits until this is done. Raises KlocError if the
    daemon does not stop, or if a file could not be restored.
    """
    if recorded() is None:
        return False
    with _locked(), _signals_blocked():
        record = recorded()
        if record is None:
            return False
        if record.daemon is not None:
            daemons.stop(record.daemon)
        failed = {
            path: error
            for path, text in _in_order(record.before)
            if (error := _restore(path, text)) is not None
        }
        if failed:
            left = {path: text for path, text in record.before.items() if path in failed}
            _save(replace(record, before=left, complete=False, daemon=None))
            path, error = next(iter(failed.items()))
            problem = explained(error, path, record.before[path])
            raise KlocError(
                f"not restored: {problem.message}", f"{problem.hint}; then kloc off again"
            )
        path_of(RECORD).unlink(missing_ok=True)
    return True


def state() -> State:
    """Return what kloc has set now, for `go_back`.

    Raises KlocError if kloc was killed while it was setting something.
    """
    record = recorded()
    if record is None:
        return State()
    if not record.complete:
        raise KlocError(
            "kloc on or kloc compare --native was killed, or is running",
            "kloc off restores what was there before; then try again",
        )
    values = {path: text for path in record.before if (text := value(path)) is not None}
    return State(record, values)


def to_try(name: str, before: State) -> tuple[config.Config, dict[str, str]]:
    """Return what `try_policy` sets: with what kloc has set before, or else what kloc.toml says.

    The second value has limits by file. Those of nodes are among them, because they are left out
    under policies that do not place page cache.
    """
    record = before.record
    if record is None:
        settings = config.read()
    else:
        settings = config.read(Path(record.config)) if record.config else config.Config()
    limits = dict(limits_of_nodes(settings))
    limits |= record.limits if record else {}
    return replace(settings, policy=name, node_limits={}), limits


def try_policy(name: str, before: State) -> tuple[str, ...]:
    """Set a policy until `go_back`; `before` is the result of `state`.

    The record says until then that something is incomplete, and `turn_off` restores all of it after
    a kill. Return notes like `turn_on`. Raises KlocError.
    """
    settings, limits = to_try(name, before)
    return _apply(make(settings, limits), settings.file, limits, complete=False)


def is_trying(name: str) -> bool:
    """Return whether what `try_policy` has set is still there: nobody has turned kloc on or off."""
    record = recorded()
    return record is not None and not record.complete and record.policy == name


def go_back(name: str, before: State) -> bool:
    """Restore what was set before `try_policy`; return False if somebody else did it meanwhile.

    Raises KlocError if a file could not be restored.
    """
    if not is_trying(name):
        return False
    if before.record is None:
        return turn_off()
    there = [one for one in before.values.items() if value(one[0]) is not None or _is_limit(one[0])]
    writes = sorted(there, key=lambda one: -_rank(one[0]))
    limits = {path: text for path, text in writes if _is_limit(path)}
    daemon = policy_files.load(before.record.daemon).daemon if before.record.daemon else None
    plan = Plan(before.record.policy, tuple(writes), daemon=daemon)
    _apply(plan, Path(before.record.config) if before.record.config else None, limits)
    with _locked():
        _save(before.record)
    return True


def set_limits(writes: Iterable[Write]) -> bool:
    """Set limits, or choose cgroups, until `turn_off`; return whether kloc is on.

    If it is off, they stay until they are removed. Raises KlocError.
    """
    with _locked(needed=recorded() is not None):
        record = recorded()
        for path, text in writes:
            now = value(path)
            if now is None:
                raise _missing(path)
            if record is not None:
                record.before.setdefault(path, now)
                record.limits[path] = text
                _save(record)
            _write(path, text)
    return record is not None


def value(path: str) -> str | None:
    """Return the value of a setting as it may be written back, None if it cannot be read."""
    text = read(path.lstrip("/"))
    if text is None:
        return None
    # The chosen one of several words, as in [always] madvise never.
    found = re.search(r"\[(\S+)\]", text)
    return found[1] if found else text


def same(one: str, other: str) -> bool:
    """Return whether two values of a setting are the same; the kernel prints some as words."""
    words = {"true": "1", "false": "0"}
    return words.get(one, one) == words.get(other, other)


def explained(error: OSError, path: str, text: str) -> KlocError:
    """Return the error for a write that the kernel refused."""
    if error.errno == errno.ENODEV and path == SELECTED:
        return one_tier(len(numa.read_tiers(system.ROOT)))
    hints = {
        errno.EINVAL: DOCUMENTED,
        errno.ENOMEM: "free memory, then try again",
        errno.EACCES: AS_ROOT,
        errno.EPERM: AS_ROOT,
        errno.EROFS: "run this on the host: containers see these files read-only",
    }
    return KlocError(
        f"{path} does not take '{text}': {error.strerror}", hints.get(error.errno or 0, DOCUMENTED)
    )


def _apply(
    plan: Plan,
    file: Path | None,
    limits: Mapping[str, str],
    complete: bool = True,
    may_lack: Iterable[str] = (),
) -> tuple[str, ...]:
    """Write a plan, made of the settings in `file`; `limits` are those of `kloc limit` in it.

    `complete` is what the record says at the end. Limits, and the files `may_lack`, are left out
    with a note if they do not exist.
    """
    optional = {*limits, *may_lack}
    notes = list(plan.notes)
    with _locked():
        old = recorded()
        record = Record(plan.policy, str(file) if file else None, limits=dict(limits))
        record.before = dict(old.before) if old else {}
        record.daemon = old.daemon if old else None
        undo: list[Write] = []
        try:
            _save(record)
            if record.daemon is not None:
                daemons.stop(record.daemon)
                record.daemon = None
            wanted = dict(plan.writes)
            switches = value(SELECTED) != wanted.get(SELECTED)
            for path, text in _in_order(record.before):
                if path not in wanted:
                    _change(path, text, undo)
                    del record.before[path]
                    _save(record)
                elif switches and NODE_LIMIT.fullmatch(path):
                    # The file may be gone under the new policy, and its limit would stay.
                    _change(path, text, undo)
            for path, text in plan.writes:
                now = value(path)
                if now is None and path in optional:
                    notes.append(f"{path} does not exist under policy {plan.policy}: no limit")
                    continue
                if now is None:
                    raise _missing(path)
                if path not in record.before:
                    record.before[path] = now
                    _save(record)
                try:
                    _change(path, text, undo)
                except KlocError as error:
                    # A locked-down kernel lets nobody write there.
                    if not path.startswith(DEBUGFS):
                        raise
                    notes.append(f"{error.message}: it stays {now}")
            if plan.daemon is not None:
                record.daemon = plan.policy
                _save(record)
                daemons.start(plan.policy, plan.daemon)
            record.complete = complete
            _save(record)
        except BaseException:
            with _signals_blocked():
                _undo(undo, old, record)
            raise
    return tuple(notes)


def _undo(undo: list[Write], old: Record | None, record: Record) -> None:
    """Write what was there before a failure, and record the state from before it.

    A daemon that was stopped for it is started again.
    """
    if record.daemon is not None:
        with suppress(KlocError):
            daemons.stop(record.daemon)
    errors = [_restore(path, text) for path, text in reversed(undo)]
    if any(errors):
        _save(record)
    elif old is not None:
        _save(old)
        if old.daemon is not None and (before := policy_files.load(old.daemon).daemon):
            # The error is about the new policy: kloc doctor --server says if this one is not there.
            with suppress(KlocError):
                daemons.start(old.daemon, before)
    else:
        path_of(RECORD).unlink(missing_ok=True)


def _change(path: str, text: str, undo: list[Write]) -> None:
    """Write a setting unless it has this value, or is gone; put the value before into `undo`."""
    now = value(path)
    if now is None or same(now, text):
        return
    undo.append((path, now))
    _write(path, text)


def _restore(path: str, text: str) -> OSError | None:
    """Restore a setting; return the error if that fails. A removed cgroup needs no restoring."""
    now = value(path)
    if now is None or same(now, text):
        return None
    try:
        system.write(path, text)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _write(path: str, text: str) -> None:
    try:
        system.write(path, text)
    except OSError as error:
        raise explained(error, path, text) from error


def _missing(path: str) -> KlocError:
    if NODE_LIMIT.fullmatch(path):
        return KlocError(
            f"{path} does not exist: policy {tiering.selected()} does not place page cache, or "
            "this is no node of fast memory",
            "limit a fast node under policy kloc, or leave the limit out",
        )
    return KlocError(f"{path} cannot be read", AS_ROOT)


def _in_order(before: Mapping[str, str]) -> list[Write]:
    """Return the writes that restore values: limits first, which exist only under some policies."""
    latest_first = list(before.items())[::-1]
    return sorted(latest_first, key=lambda one: _rank(one[0]))


def _rank(path: str) -> int:
    """Return a number for the order to restore settings in; they are set in the opposite one."""
    if _is_limit(path):
        return 0
    return 1 if path == SELECTED else 2


def _is_limit(path: str) -> bool:
    return bool(NODE_LIMIT.fullmatch(path)) or "/memory.kloc." in path


def _save(record: Record) -> None:
    """Replace the content of RECORD. It is not synced to a disk: a reboot resets what it is of."""
    path = path_of(RECORD)
    draft = files.draft_of(path)
    draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
    draft.rename(path)


@contextmanager
def _locked(needed: bool = True) -> Iterator[None]:
    """Let other kloc that change settings wait during the block, if that is needed."""
    with system.locked(LOCK) if needed else nullcontext():
        yield


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Let signals wait until the end of the block."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
