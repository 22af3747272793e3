# SPDX-License-Identifier: GPL-2.0
"""The words and figures at the top: who won, how much of what there was to win, and the rest."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.results.report import formats, kinds, plots
from kloc.results.report.cases import Case, Times
from kloc.results.report.structure import Card, Cell, Overview, Part
from kloc.results.table import LOWER, UPPER

PARTS_MAX = 5
"""Parts of the time that a card names; what is left is one more."""

SMALL = 0.01
"""Of the whole: what is less goes into the rest."""


def headline(found: Sequence[Case]) -> str:
    """Return the page's one sentence."""
    if len(found) == 1:
        return _sentence(found[0])
    winners: dict[str, list[str]] = {}
    for case in found:
        best = case.best() if len(case.contenders) > 1 else []
        if best:
            winners.setdefault(formats.listed(sorted(best)), []).append(case.name)
    if not winners:
        names = [case.name for case in found]
        who = formats.listed(names) if len(names) <= 3 else f"{len(names)} workloads"
        return f"{who} under {_policies(found)}"
    decided = sum(len(names) for names in winners.values())
    if decided > 4:
        ranked = sorted(winners.items(), key=lambda item: -len(item[1]))
        counts = [f"{who} on {len(names)}" for who, names in ranked]
        return f"Fastest: {formats.listed(counts)} of {decided}"
    return "Fastest: " + "; ".join(
        f"{who} on {formats.listed(names)}" for who, names in winners.items()
    )


def overview(found: Sequence[Case]) -> Overview | None:
    """Return the shares of what there was to win, a row a case; None for a single case."""
    policies = list(dict.fromkeys(name for case in found for name in case.contenders))
    oracles = list(dict.fromkeys(case.oracle for case in found if case.oracle))
    if len(found) < 2 or not any(case.way(name) for case in found for name in policies):
        return None
    rows = [(case.name, [_cell(case, name) for name in [*policies, *oracles]]) for case in found]
    caption = "Share that each policy takes of what there is to win, from all-slow to all-fast"
    return Overview(caption, [*policies, *oracles], rows)


def card(case: Case, alone: bool) -> Card:
    """Return the answer for one case; if it is `alone`, the page's headline says it already."""
    best = case.best()
    shown = best[0] if best else None
    return Card(
        name="" if alone else case.name,
        headline="" if alone else _sentence(case, named=False),
        facts=_facts(case, shown) if shown else _bounds_facts(case),
        figure=plots.way(case),
        remarks=_remarks(case, best),
        parts_title=_parts_title(case, shown),
        parts=_parts(case, shown),
    )


def _sentence(case: Case, named: bool = True) -> str:
    best = case.best()
    on = f" on {case.name}" if named else ""
    if len(case.contenders) > 1:
        way = case.way(best[0])
        won = f": {formats.percent(way.median)} of what there is to win" if way else ""
        if len(best) > 1:
            return f"{formats.listed(best)} are level{on}{won}"
        return f"{best[0]} is fastest{on}{won}"
    if ratio := case.ratio(UPPER, LOWER) if not best else None:
        said = f"{UPPER} is {ratio.median:.2f} times as fast as {LOWER}"
        return f"{case.name}: {said}" if named else said
    policy = best[0] if best else case.policies[0]
    said = _speed(case, policy)
    return f"{case.name} under {policy}: {said}" if named else f"{policy}: {said}"


def _speed(case: Case, policy: str) -> str:
    if way := case.way(policy):
        return f"{formats.percent(way.median)} of what there is to win"
    spread = case.spread(policy, "seconds" if case.is_timed else "throughput")
    assert spread is not None
    if case.is_timed:
        return formats.seconds(spread.median)
    return f"{formats.count(spread.median)} operations/s"


def _policies(found: Sequence[Case]) -> str:
    return formats.listed(list(dict.fromkeys(name for case in found for name in case.policies)))


def _cell(case: Case, policy: str) -> Cell:
    way = case.way(policy)
    if way is None:
        spread = case.spread(policy, "throughput")
        return Cell("" if spread is None else "nothing to win" if _flat(case) else "?")
    best = policy in case.best()[:1] and len(case.contenders) > 1
    return Cell(formats.percent(way.median), min(1.0, max(0.0, way.median)), best)


def _flat(case: Case) -> bool:
    return {LOWER, UPPER} <= set(case.policies)


def _facts(case: Case, policy: str) -> list[tuple[str, str]]:
    figure = "seconds" if case.is_timed else "throughput"
    spread = case.spread(policy, figure)
    assert spread is not None
    facts = [
        (formats.seconds(spread.median), "of the machine's time")
        if case.is_timed
        else (formats.count(spread.median), "operations/s")
    ]
    if slow := case.ratio(policy, LOWER):
        facts.append((f"{slow.median:.2f} x", "all-slow"))
    if fast := case.ratio(policy, UPPER):
        facts.append((formats.percent(fast.median), "of all-fast"))
    if case.oracle and (way := case.way(policy, case.oracle)):
        facts.append((formats.percent(way.median), "of the way to the oracle"))
    return facts


def _bounds_facts(case: Case) -> list[tuple[str, str]]:
    ratio = case.ratio(UPPER, LOWER)
    return [(f"{ratio.median:.2f} x", "all-fast against all-slow")] if ratio else []


def _remarks(case: Case, best: Sequence[str]) -> list[str]:
    remarks = []
    ahead = [name for name in case.contenders if name not in best]
    if best and ahead:
        by = {name: spread.median for name in ahead if (spread := case.spread(name, "throughput"))}
        second = max(by, key=lambda name: by[name])
        first = case.spread(best[0], "throughput")
        assert first is not None
        remarks.append(
            f"{second} is next, {formats.percent(1 - by[second] / first.median)} slower."
        )
    if len(best) > 1:
        remarks.append(
            "Level: within 1 %, or with ranges over seeds that overlap."
            if len(case.of(best[0])) > 1
            else "Level: within 1 %."
        )
    if case.oracle and (way := case.way(case.oracle)):
        remarks.append(
            "The oracle, the best placement that moves nothing, takes "
            f"{formats.percent(way.median)}."
        )
    if case.contenders and not case.way(case.contenders[0]):
        remarks.append(
            "All-fast is hardly faster than all-slow here: there is nothing to win."
            if _flat(case)
            else "All-slow and all-fast were not both measured: what there is to win is unknown."
        )
    for name in best:
        for note in dict.fromkeys(note for run in case.of(name) for note in run.get("notes", [])):
            remarks.append(f"{name}: {note}" if not note.startswith(name) else note)
    return remarks


def _parts_title(case: Case, policy: str | None) -> str:
    of, against = _compared(case, policy)
    if of is None:
        return ""
    if against is None:
        return f"Where the {formats.seconds(of.seconds)} under {policy or case.policies[0]} went"
    gap = of.seconds - against.seconds
    sign = "longer" if gap >= 0 else "shorter"
    took = formats.seconds(abs(gap))
    return f"Where the rest goes: {policy or LOWER} takes {took} {sign} than {UPPER}"


def _parts(case: Case, policy: str | None) -> list[Part]:
    of, against = _compared(case, policy)
    if of is None:
        return []
    seconds = _by_name(of)
    whole = of.seconds
    if against is not None:
        taken = _by_name(against)
        seconds = {name: seconds.get(name, 0.0) - taken.get(name, 0.0) for name in seconds | taken}
        whole = sum(abs(value) for value in seconds.values())
    named = sorted(
        (name for name in seconds if abs(seconds[name]) >= SMALL * whole),
        key=lambda name: -abs(seconds[name]),
    )[:PARTS_MAX]
    rest = sum(value for name, value in seconds.items() if name not in named)
    top = max((abs(seconds[name]) for name in named), default=0.0)
    sign = "+" if against is not None else ""
    parts = [Part(name, _signed(seconds[name], sign), seconds[name] / top) for name in named if top]
    if abs(rest) >= 0.001 * whole and top:
        parts.append(Part("all else", _signed(rest, sign), max(-1.0, min(1.0, rest / top))))
    return parts


def _compared(case: Case, policy: str | None) -> tuple[Times | None, Times | None]:
    """What a card's parts are of: the best policy (or all-slow), and all-fast to compare with."""
    of = case.times(policy or LOWER)
    if of is None and not policy:
        of = case.times(case.policies[0])
    return of, case.times(UPPER) if UPPER in case.policies and of else None


def _by_name(times: Times) -> dict[str, float]:
    named = {"compute": times.compute}
    for group in kinds.PAGES:
        named[f"stalls: {group.label}"] = times.stalled(group)
    named |= {"storage wait": times.storage, "other idle": times.idle}
    named["held up by background threads"] = times.excess
    return named


def _signed(seconds: float, plus: str) -> str:
    mark = plus if seconds >= 0 else "\N{MINUS SIGN}"
    return mark + formats.seconds(abs(seconds))
