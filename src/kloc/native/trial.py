# SPDX-License-Identifier: GPL-2.0
"""One run: sets a policy, runs the program, and records what it took."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kloc.base import revision
from kloc.base.stats import total
from kloc.measure.workload import Outcome
from kloc.native import counters, group, host, perf, settings
from kloc.native.box import Box
from kloc.native.group import Group
from kloc.native.subject import BEFORE, CHECK, MEASURED, Subject
from kloc.server.control import State

FEW_BYTES = 1 << 20

Run = dict[str, Any]
"""A record, as docs/results.md describes it."""


@dataclass(frozen=True)
class Session:
    """What all runs have in common.

    `folder` is for the files of a run, and `programs` are compiled. Pages that still move delay a
    run by at most `settle_seconds`.
    """

    folder: Path
    before: State
    settle_seconds: float
    programs: Mapping[str, Sequence[Path]] = field(default_factory=dict)


def run(session: Session, subject: Subject, policy: str, round_number: int, place: int) -> Run:
    """Return the record of a run, the one at `place` in its round. The caller holds signals.

    Raises KlocError if the program fails, and KeyboardInterrupt; the settings are restored then.
    """
    with ExitStack() as stack:
        notes = list(stack.enter_context(settings.policy(policy, session.before)))
        written = settings.written(policy, session.before)
        counters.drop_page_cache()
        settled = counters.settle(session.settle_seconds)
        if settled is None:
            notes.append(
                f"pages still moved {session.settle_seconds:g} s after the policy was set: other "
                "programs on this server use memory, too"
            )
        shutil.rmtree(session.folder, ignore_errors=True)
        session.folder.mkdir(mode=0o755, parents=True)
        stack.callback(shutil.rmtree, session.folder, ignore_errors=True)
        cgroup = Group.make()
        if cgroup is None:
            notes.append(group.NO_GROUP)
        else:
            stack.callback(cgroup.close)
        box = stack.enter_context(
            Box(
                session.folder,
                subject.scripts(round_number),
                subject.surroundings,
                cgroup,
                session.programs.get(subject.name, ()),
            )
        )
        _load(box, subject, round_number)
        measured = _measure(session, box, cgroup)
        if subject.has(CHECK, round_number):
            box.step(CHECK)
        outcome = subject.outcome({name: box.printed(name) for name in ("setup", MEASURED, CHECK)})
    notes += _remarks(measured)
    return {
        "workload": subject.name,
        "policy": policy,
        "seed": round_number,
        "round": round_number,
        "place": place,
        "settings": written,
        "machine": _machine(),
        "cores": os.cpu_count() or 1,
        **({"size": asdict(subject.size)} if subject.size else {}),
        "cold": not subject.slices,
        **_result(outcome, measured),
        "settle_seconds": settled,
        "spread": None,
        "notes": [*notes, *outcome.notes],
        "kloc": revision.commit(),
    }


def _load(box: Box, subject: Subject, seed: int) -> None:
    """Run all that comes before the measured part."""
    for name in BEFORE:
        if not subject.has(name, seed):
            continue
        if name == "warm":
            for number in range(1, subject.slices + 1):
                box.step(name, number)
            continue
        box.step(name)
        if name == "prepare":
            # As in kloc's machine, nothing of it is in memory when the load begins.
            counters.drop_page_cache()


def _measure(session: Session, box: Box, cgroup: Group | None) -> Run:
    """Run the measured part, and return what was counted meanwhile."""
    tiers = host.tiers()

    def snapshot() -> dict[str, Any]:
        return {
            "node": host.node_bytes(),
            "cpu": cgroup.cpu_ns() if cgroup else None,
            "memory": cgroup.memory(tiers) if cgroup else None,
            "counts": counters.read_all(),
        }

    with perf.counting(session.folder / "perf", group.NAME if cgroup else None) as events:
        begin = snapshot()
        started = time.monotonic()
        box.step(MEASURED)
        seconds = time.monotonic() - started
        end = snapshot()
    return {"seconds": seconds, "begin": begin, "end": end, "perf": events}


def _result(outcome: Outcome, measured: Run) -> Run:
    """Return the keys of a record that say what was done and what that took."""
    begin, end, seconds = measured["begin"], measured["end"], measured["seconds"]
    changed = counters.change(begin["counts"], end["counts"])
    result: Run = {
        "operations": outcome.operations,
        "seconds": seconds,
        "throughput": outcome.operations / seconds,
        "latency_ns": dict(outcome.latency_ns) if outcome.latency_ns else None,
        "migrated_pages": counters.moves(changed),
        "hint_faults": changed.get("numa_hint_faults", 0),
        "counters": changed,
        "node_bytes": {"begin": begin["node"], "end": end["node"]},
    }
    if outcome.figures:
        result["figures"] = dict(outcome.figures)
    if begin["cpu"]:
        result["cpu_ns"] = {mode: end["cpu"][mode] - begin["cpu"][mode] for mode in end["cpu"]}
    if end["memory"]:
        result["memory_bytes"] = {"begin": begin["memory"], "end": end["memory"]}
    if measured["perf"]:
        result["perf"] = dict(measured["perf"])
    return result


def _remarks(measured: Run) -> list[str]:
    """Return notes on what a run did not show."""
    memory = measured["end"]["memory"]
    if memory is None:
        return [group.NO_MEMORY] if measured["end"]["cpu"] else []
    moved = counters.moves(counters.change(measured["begin"]["counts"], measured["end"]["counts"]))
    if sum(memory["slow"].values()) < FEW_BYTES and not total(moved):
        return [
            "all memory of the program was fast and no page moved: it fits into fast memory, and "
            "says nothing about policies; give it more data (--load), or limit fast memory"
        ]
    return []


def _machine() -> Run:
    """Return the server as the key `machine` of a run has it."""
    described = host.node_bytes()
    return {
        "name": host.name(),
        "fast_bytes": described["fast"]["total"],
        "slow_bytes": described["slow"]["total"],
        "variant": "",
    }
