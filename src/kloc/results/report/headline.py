# SPDX-License-Identifier: GPL-2.0
"""The top of a report on runs: the headline, the overview of all cases, a card for each case."""

from __future__ import annotations

from collections.abc import Sequence

from kloc.results.ahead import SEED, Lead, Verdict
from kloc.results.report import formats, kinds, plots
from kloc.results.report.cases import Case, Times
from kloc.results.report.structure import Card, Cell, Overview, Part
from kloc.results.rows import LOWER, UPPER

PARTS_MAX = 5
"""Parts of the time that a card names; it shows the sum of the others."""

SMALL = 0.01
"""Parts with a smaller share of the time are not named."""

NAMED_MAX = 4
"""Cases that a headline names; it gives the number of more."""


def headline(all_cases: Sequence[Case]) -> str:
    """Return the page's headline, one sentence."""
    if len(all_cases) == 1:
        return sentence(all_cases[0])
    compared = [case for case in all_cases if len(case.contenders) > 1]
    names = [case.name for case in compared or all_cases]
    subject = formats.listed(names) if len(names) < NAMED_MAX else f"{len(names)} results"
    if not compared:
        policies = dict.fromkeys(name for case in all_cases for name in case.policies)
        return f"{subject} under {formats.listed(list(policies))}"
    undecided = [case for case in compared if not case.leaders()]
    if len(undecided) == len(compared):
        seeds = {case.lead.seeds_text for case in compared if case.lead}
        return _cannot_tell(seeds.pop() if len(seeds) == 1 else "", "policy", f" on {subject}")
    cases_by_winner: dict[str, list[str]] = {}
    for case in compared:
        if leaders := sorted(case.leaders()):
            winner = formats.listed(leaders) + (" (level)" if len(leaders) > 1 else "")
            cases_by_winner.setdefault(winner, []).append(case.name)
    if len(compared) > NAMED_MAX:
        ranked = sorted(cases_by_winner.items(), key=lambda item: -len(item[1]))
        counts = [f"{winner} on {len(won)}" for winner, won in ranked]
        unknown = f"; {Verdict.UNKNOWN} on {len(undecided)}" if undecided else ""
        return f"Fastest: {formats.listed(counts)} of {len(compared)} comparisons{unknown}"
    parts = [f"{winner} on {formats.listed(won)}" for winner, won in cases_by_winner.items()]
    if undecided:
        parts.append(f"{Verdict.UNKNOWN} on {formats.listed([case.name for case in undecided])}")
    return "Fastest: " + "; ".join(parts)


def overview(all_cases: Sequence[Case]) -> Overview | None:
    """Return each policy's share of the headroom in each case; None for a single case."""
    policies = list(dict.fromkeys(name for case in all_cases for name in case.contenders))
    oracles = list(dict.fromkeys(case.oracle for case in all_cases if case.oracle))
    if len(all_cases) < 2:
        return None
    if not any(case.headroom_share(name) for case in all_cases for name in policies):
        return None
    columns = [*policies, *oracles]
    rows = [(case.name, [_cell(case, name) for name in columns]) for case in all_cases]
    caption = (
        "Share of the headroom that each policy uses: "
        "0 % is as slow as all-slow, 100 % is as fast as all-fast"
    )
    return Overview(caption, columns, rows)


def card(case: Case, alone: bool) -> Card:
    """Return the card of a case; `alone` if it is the only one, which the headline is about."""
    policy = case.lead.first if case.lead else None
    return Card(
        name="" if alone else case.name,
        headline="" if alone else sentence(case, named=False),
        facts=_facts(case, policy) if policy else _bounds_facts(case),
        figure=plots.headroom(case),
        remarks=_remarks(case),
        parts_title=_parts_title(case, policy),
        parts=_parts(case, policy),
        parts_note=_parts_note(case, policy),
    )


def sentence(case: Case, named: bool = True) -> str:
    """Return the main result of a case; `named` if the sentence has to name the case."""
    lead = case.lead
    if lead and lead.verdicts:
        on = f" on {case.name}" if named else ""
        if undecided := lead.undecided:
            some = len(undecided) < len(case.contenders)
            which = f"of {formats.listed(undecided)}" if some else "policy"
            return _cannot_tell(lead.seeds_text, which, on)
        share = case.headroom_share(lead.first)
        gain = f", with {formats.percent(share.median)} of the headroom" if share else ""
        verb = "is fastest" if len(lead.leaders) == 1 else "are level"
        return f"{formats.listed(lead.leaders)} {verb}{on}{gain}"
    if ratio := case.ratio(UPPER, LOWER) if not lead else None:
        result = f"{UPPER} is {ratio.median:.2f} times as fast as {LOWER}"
        return f"{case.name}: {result}" if named else result
    policy = lead.first if lead else case.policies[0]
    result = _result(case, policy)
    return f"{case.name} under {policy}: {result}" if named else f"{policy}: {result}"


def _cannot_tell(seeds: str, which: str, on: str) -> str:
    """Return the sentence that the fastest policy is unknown, in the words of the terminal."""
    text = f"{seeds}: " if seeds else ""
    text += f"{Verdict.UNKNOWN} which {which} is fastest{on}"
    return text[0].upper() + text[1:]


def _result(case: Case, policy: str) -> str:
    """Return a policy's share of the headroom, or its speed if the headroom is not known."""
    if share := case.headroom_share(policy):
        return f"{formats.percent(share.median)} of the headroom"
    spread = case.spread(policy, "seconds" if case.is_timed else "throughput")
    assert spread is not None
    if case.is_timed:
        return formats.seconds(spread.median)
    return f"{formats.count(spread.median)} operations/s"


def _cell(case: Case, policy: str) -> Cell:
    share = case.headroom_share(policy)
    if share is None:
        if case.spread(policy, "throughput") is None:
            return Cell("")
        return Cell("no headroom" if case.has_bounds else "?")
    width = min(1.0, max(0.0, share.median))
    return Cell(formats.percent(share.median), width, policy in case.leaders())


def _facts(case: Case, policy: str) -> list[tuple[str, str]]:
    spread = case.spread(policy, "seconds" if case.is_timed else "throughput")
    assert spread is not None
    # With several policies, the headline may name another one first, or none.
    under = f" under {policy}" if len(case.contenders) > 1 else ""
    facts = [
        (formats.seconds(spread.median), f"of {case.time_name}{under}")
        if case.is_timed
        else (formats.count(spread.median), f"operations/s{under}")
    ]
    if slow := case.ratio(policy, LOWER):
        facts.append((f"{slow.median:.2f} x", LOWER))
    if fast := case.ratio(policy, UPPER):
        facts.append((formats.percent(fast.median), f"of {UPPER}"))
    if case.oracle_bound and (share := case.headroom_share(policy, case.oracle_bound)):
        facts.append((formats.percent(share.median), "of the headroom up to the oracle"))
    return facts


def _bounds_facts(case: Case) -> list[tuple[str, str]]:
    ratio = case.ratio(UPPER, LOWER)
    return [(f"{ratio.median:.2f} x", f"{UPPER} relative to {LOWER}")] if ratio else []


def _remarks(case: Case) -> list[str]:
    lead = case.lead
    remarks = _lead_remarks(case, lead) if lead else []
    if case.oracle and (share := case.headroom_share(case.oracle)):
        remarks.append(
            "The oracle, a static placement by page frame, uses "
            f"{formats.percent(share.median)} of the headroom."
        )
        if not case.oracle_bound:
            remarks.append("The oracle is no bound here: another policy is faster.")
    is_simulated = case.unit == SEED
    if is_simulated and case.contenders and not case.headroom_share(case.contenders[0]):
        remarks.append(
            f"There is no headroom: {UPPER} is hardly faster than {LOWER}."
            if case.has_bounds
            else f"The headroom is unknown: {LOWER} and {UPPER} were not both measured."
        )
    for name in (lead.leaders or [lead.first]) if lead else []:
        runs = case.runs_under(name)
        for note in dict.fromkeys(note for run in runs for note in run.get("notes", [])):
            remarks.append(note if note.startswith(name) else f"{name}: {note}")
    return remarks


def _lead_remarks(case: Case, lead: Lead) -> list[str]:
    """Return what the verdicts of kloc.results.ahead say of the first policy and the others."""
    if lead.undecided:
        others = formats.listed(lead.undecided[1:])
        return [
            f"{lead.first} has the highest throughput; {lead.seeds_text}: {Verdict.UNKNOWN} "
            f"whether it is ahead of {others}. --{lead.unit}s 3 measures three {lead.unit}s."
        ]
    remarks = []
    if lead.behind:
        first, second = (case.spread(name, "throughput") for name in (lead.first, lead.behind[0]))
        assert first is not None and second is not None
        slower = formats.percent(1 - second.median / first.median)
        remarks.append(f"{lead.behind[0]} is next, {slower} slower.")
    if len(lead.leaders) > 1:
        others = formats.listed(lead.leaders[1:])
        remarks.append(f"Level: {lead.first} is not ahead of {others}, {lead.unit} by {lead.unit}.")
    if _is_judged_by_spread(lead):
        remarks.append("One seed, judged by the spread that the workload states.")
    return remarks


def _is_judged_by_spread(lead: Lead) -> bool:
    """Return whether there is one seed, whose verdict is that of the workload's spread."""
    return bool(lead.verdicts) and lead.seeds == 1 and lead.unit == SEED


def _parts_title(case: Case, policy: str | None) -> str:
    times, baseline = _compared_times(case, policy)
    if times is None:
        return ""
    if baseline is None:
        took = formats.seconds(times.seconds)
        return f"Where the {took} under {policy or case.policies[0]} went"
    gap = times.seconds - baseline.seconds
    sign = "longer" if gap >= 0 else "shorter"
    took = formats.seconds(abs(gap))
    return f"The gap to {UPPER}: {policy or LOWER} takes {took} {sign}"


def _parts(case: Case, policy: str | None) -> list[Part]:
    """Return the largest parts of a policy's time, or of its difference from all-fast."""
    times, baseline = _compared_times(case, policy)
    if times is None:
        return []
    seconds = _by_label(times)
    scale = times.seconds
    if baseline is not None:
        theirs = _by_label(baseline)
        seconds = {name: seconds.get(name, 0.0) - theirs.get(name, 0.0) for name in seconds}
        scale = sum(abs(value) for value in seconds.values())
    named = sorted(
        (name for name in seconds if abs(seconds[name]) >= SMALL * scale),
        key=lambda name: -abs(seconds[name]),
    )[:PARTS_MAX]
    other = sum(value for name, value in seconds.items() if name not in named)
    top = max((abs(seconds[name]) for name in named), default=0.0)
    plus = "+" if baseline is not None else ""
    parts = [Part(name, _signed(seconds[name], plus), seconds[name] / top) for name in named if top]
    if abs(other) >= 0.001 * scale and top:
        parts.append(Part("other", _signed(other, plus), max(-1.0, min(1.0, other / top))))
    return parts


def _parts_note(case: Case, policy: str | None) -> str:
    """Return what it means that parts of a difference are below zero, "" if none is."""
    less = [part.label for part in _parts(case, policy) if part.share < 0]
    if not less:
        return ""
    note = f"Minus, in green: less time than under {UPPER}."
    if kinds.COMPUTE.label in less:
        note += (
            " Compute is the time of the instructions without misses: fewer were executed, for "
            "example because work in the background fell outside of the region."
        )
    return note


def _compared_times(case: Case, policy: str | None) -> tuple[Times | None, Times | None]:
    """Return the times that a card divides up, and those of all-fast to compare them with.

    The first are those of `policy`; without one, of all-slow or of the first policy.
    """
    times = case.times(policy or LOWER)
    if times is None and not policy:
        times = case.times(case.policies[0])
    return times, case.times(UPPER) if UPPER in case.policies and times else None


def _by_label(times: Times) -> dict[str, float]:
    stalls = {f"stalls: {group.label}": times.stalled(group) for group in kinds.STALLS}
    return {
        kinds.COMPUTE.label: times.compute,
        **stalls,
        kinds.STORAGE.label: times.storage,
        kinds.IDLE.label: times.idle,
    }


def _signed(seconds: float, plus: str) -> str:
    sign = plus if seconds >= 0 else "\N{MINUS SIGN}"
    return sign + formats.seconds(abs(seconds))
