# SPDX-License-Identifier: GPL-2.0
"""The policies of the running kernel, one of which is set during a run and then taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from kloc.base.errors import KlocError, UsageError, unknown
from kloc.server import control, plan, policy_files, system
from kloc.server.control import State

DEFAULT = ("stock", "tpp", "kloc")
"""The policies that are compared if nobody names any."""

LOCK = "/run/kloc/native.lock"
"""Locked by the kloc that compares."""

CHANGED = "kloc on, off or policy was run during the measurement, and its settings are left alone"


def usable(names: Sequence[str], before: State) -> tuple[list[str], dict[str, str]]:
    """Return the policies to compare, and why others are left out, by name.

    `names` are those that the user wants, none for DEFAULT. Raises KlocError if the server cannot
    have a policy that the user has named, or none of the default ones.
    """
    lacking: dict[str, str] = {}
    for name in names or DEFAULT:
        if name not in policy_files.names():
            raise unknown("policy", name, policy_files.of_servers())
        settings, _ = control.to_try(name, before)
        refusal = next(plan.refusals(settings), None)
        if refusal is None:
            continue
        if names:
            raise KlocError(refusal.message, refusal.hint)
        lacking[name] = refusal.message
    kept = [name for name in names or DEFAULT if name not in lacking]
    if not kept:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in lacking.items())
        raise KlocError(f"this server can have no policy: {reasons}", "kloc policy lists them")
    return kept, lacking


def require_several(names: Sequence[str]) -> None:
    """Raise UsageError if there is nothing to compare."""
    if len(names) < 2:
        raise UsageError(
            f"only one policy, {names[0]}, so that there is nothing to compare",
            "name several with --policies A,B; kloc policy lists those that this server can have",
        )


def written(name: str, before: State) -> dict[str, str]:
    """Return what a policy sets, by file, as it is set now."""
    return dict(plan.make(*control.to_try(name, before)).writes)


def changes(name: str, before: State) -> Mapping[str, str]:
    """Return what of a policy's settings differs from what is there now, by file."""
    return {
        path: text
        for path, text in written(name, before).items()
        if (now := control.value(path)) is None or not control.same(now, text)
    }


@contextmanager
def policy(name: str, before: State) -> Iterator[tuple[str, ...]]:
    """Set a policy during the block, and then go back to `before`; yield notes on what it lacks.

    The caller holds signals. Raises KlocError if somebody else has changed the settings meanwhile.
    """
    notes = control.try_policy(name, before)
    try:
        yield notes
    finally:
        undisturbed = control.go_back(name, before)
    if not undisturbed:
        raise KlocError(CHANGED, "compare again, and leave kloc alone meanwhile")


@contextmanager
def alone() -> Iterator[None]:
    """Refuse to run beside another comparison, which would change settings, too."""
    busy = KlocError("another kloc compare --native is running", "wait until it is done")
    with system.locked(LOCK, busy):
        yield
