# SPDX-License-Identifier: GPL-2.0
"""`kloc tune`: finds the best value for a threshold of a scheme (DAOS, section 3.5)."""

from __future__ import annotations

import argparse
import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base import environment, paths, terminal
from kloc.base.errors import KlocError, unknown
from kloc.commands import output, scheme_arguments, targets, tune_arguments
from kloc.commands.exec import callers_environment
from kloc.schemes import damon, scheme, sysfs, text, units
from kloc.schemes.scheme import Scheme, Tuned
from kloc.schemes.sysfs import Processes
from kloc.tune import document, optimizer, plot, score, tuner
from kloc.tune.score import Measurement, Score
from kloc.tune.setting import DamonSetting
from kloc.tune.tuner import EXTRA_RUNS, Measure, Result, Sample, Verdict
from kloc.tune.workloads import Command, Process

USAGE = (
    "[options] SCHEME (--limit TIME | --samples N) -- COMMAND...",
    "[options] SCHEME (--limit TIME | --samples N) --pid PID",
    "[options] SCHEME WORKLOAD (--limit TIME | --samples N)",
    "[options] POLICY WORKLOAD",
)

DESCRIPTION = """\
Find the best value for the threshold of a scheme that its file marks with a range, such as
5s{1s..60s}: measure a command, or a running process, under some values, and estimate the best one
from their scores (DAOS, section 3.5). This works on any kernel with DAMON, and needs root. With a
WORKLOAD, each value is measured in the two-tier machine, under the policy of the scheme's name, or
under baseline with the scheme.

With a POLICY that has a table [tune], find the settings in it with which WORKLOAD is fastest.

A command runs once for each value and for the file's own, and twice without a scheme. A process is
measured for --unit under each value; the first half of it lets the value take effect.
docs/tuning.md explains the scores and the verdict.
"""

EXAMPLES = (
    ("kloc tune prcl --samples 10 -- ./bench", "run ./bench 13 times"),
    ("kloc tune prcl --limit 30m --pid 1234 --apply", "a running process"),
    ("kloc tune prcl redis --samples 10", "a workload in the machine"),
)

SHORT_SECONDS = 5.0
"""Below this runtime, the first aggregations of DAMON are much of a measurement."""

UNIT_MIN_SECONDS = 10.0


add_arguments = tune_arguments.add


def run(args: argparse.Namespace) -> int:
    """Tune, and print the result."""
    tune_arguments.check(args)
    if args.workload is not None:
        paths.require_laboratory("kloc tune WORKLOAD")
        environment.require("measure", "kloc tune WORKLOAD")
        from kloc.commands import tune_policy

        if tune_policy.is_policy(args.scheme):
            return tune_policy.tune(args)
        _check_names(args)
    # Before its length: a name that does not exist is the first thing to mend.
    text.load(args.scheme)
    tune_arguments.check_length(args)
    schemes, attributes = text.load(args.scheme), scheme_arguments.attributes(args)
    tuned = _tuned(args, schemes)
    rate = _score(args)
    if args.workload is not None:
        if args.dry_run:
            return _list_workload(args, schemes)
        _require_packages(args)
        _deliver(args, schemes, _tune_workload(args, schemes, tuned, rate))
        return 0
    if not args.dry_run:
        _require_packages(args)
    damon.check()
    target = Processes((args.pid or os.getpid(),))
    for end in (tuned.low, tuned.high):
        sysfs.writes(scheme.at(schemes, scheme.number(end)), attributes, target)
    if args.dry_run:
        return _list(args, tuned)
    with damon.taken() as taken:
        setting = DamonSetting(taken, schemes, attributes)
        measure, unit = _measure(args, tuned, setting)
        result = _tuned_with(
            args,
            schemes,
            measure,
            rate,
            lambda baseline: _count(args, tuned, unit or baseline.runtime),
        )
        if args.apply and result.verdict is Verdict.BETTER:
            target = Processes(setting.pids)
            taken.apply(scheme.at(schemes, result.best.value), attributes, target)
            taken.keep()
            terminal.say(
                f"the tuned scheme runs on {damon.describe(target)}; kloc scheme stop ends it"
            )
    _deliver(args, schemes, result)
    return 0


def _require_packages(args: argparse.Namespace) -> None:
    """Install what the optimizer needs, which a server need not have."""
    extra = "curve" if args.optimizer == optimizer.PAPER else "tune"
    environment.require(extra, f"kloc tune --optimizer {args.optimizer}")


def _list(args: argparse.Namespace, tuned: Tuned) -> int:
    """Print what would be measured. Raises KlocError if the command or the process is missing."""
    damon.check_free()
    print(_threshold(args, tuned))
    if args.pid is None:
        targets.check_program(args.program)
        print(f"{shlex.join(args.program)}, once unmeasured, then {_runs(args)}")
        return 0
    name = targets.check_process(args.pid)
    unit = args.unit or _default_unit(tuned)
    count = args.samples or int(args.limit / unit) - EXTRA_RUNS
    tuner.check_count(count)
    each = units.format_time(round(1e6 * unit))
    whole = units.format_time(round(1e6 * unit) * (count + EXTRA_RUNS))
    print(f"process {args.pid} ({name}), {each} under each of {count + EXTRA_RUNS} values: {whole}")
    return 0


def _list_workload(args: argparse.Namespace, schemes: Sequence[Scheme]) -> int:
    """Print the runs of a tuning in the machine. Raises KlocError for what it would refuse."""
    environment.require("measure", "kloc tune WORKLOAD")
    from kloc.commands import duration
    from kloc.commands.tune_workload import Plan

    plan = Plan.of(args, schemes, scheme_arguments.attributes(args))
    print(_threshold(args, _tuned(args, schemes)))
    print(f"{plan.task(None).listing()}, and under {args.scheme}: {_runs(args)}")
    if args.samples is not None:
        duration.say([plan.task(None)] * (args.samples + EXTRA_RUNS), one_by_one=True)
    return 0


def _threshold(args: argparse.Namespace, tuned: Tuned) -> str:
    low, high = (text.format_value(tuned.threshold, end) for end in (tuned.low, tuned.high))
    return f"{args.scheme}: {tuned.threshold} from {low} to {high}, optimizer {args.optimizer}"


def _runs(args: argparse.Namespace) -> str:
    """Return how often something is measured: the samples, the file's own value, and none."""
    if args.samples is not None:
        total = args.samples + EXTRA_RUNS
        return f"{total} times ({args.samples} samples, the file's value, no scheme)"
    return f"as often as fits into {units.format_time(round(args.limit * 1e6))}"


def _check_names(args: argparse.Namespace) -> None:
    """Raise UsageError if a scheme or a workload is neither known nor a file."""
    from kloc.measure import policy, workload

    known = {*text.names(), *policy.names()}
    if args.scheme not in known and not Path(args.scheme).exists():
        raise unknown("scheme or policy", args.scheme, known)
    workload.load(args.workload)


def _tune_workload(
    args: argparse.Namespace, schemes: Sequence[Scheme], tuned: Tuned, rate: Score
) -> Result:
    """Tune for a workload in the machine."""
    environment.require("measure", "kloc tune WORKLOAD")
    from kloc.commands.tune_workload import InMachine, Plan

    machine = InMachine(Plan.of(args, schemes, scheme_arguments.attributes(args)))
    return _tuned_with(
        args,
        schemes,
        machine.measure,
        rate,
        lambda _: args.samples or int(args.limit / (machine.unit or 1.0)) - EXTRA_RUNS,
    )


def _tuned_with(
    args: argparse.Namespace,
    schemes: Sequence[Scheme],
    measure: Measure,
    rate: Score,
    count: Callable[[Measurement], int],
) -> Result:
    """Tune with a function that measures one value; `count` returns the number of samples."""
    tuned = _tuned(args, schemes)
    return tuner.tune(
        measure,
        rate,
        untuned=scheme.number(getattr(_marked(schemes), tuned.threshold)),
        count=count,
        optimizer=functools.partial(_optimizer, args, tuned),
        report=functools.partial(_report, schemes),
    )


def _marked(schemes: Sequence[Scheme]) -> Scheme:
    found = scheme.tuned_scheme(schemes)
    assert found is not None
    return found


def _tuned(args: argparse.Namespace, schemes: Sequence[Scheme]) -> Tuned:
    """Return the threshold to tune. Raises KlocError if the file marks none."""
    found = scheme.tuned_scheme(schemes)
    if found is None or found.tuned is None:
        raise KlocError(
            f"{args.scheme} marks no threshold to tune",
            "add a range to one threshold: 5s{1s..60s} starts from 5 s and looks from 1 s to 60 s",
        )
    return found.tuned


def _score(args: argparse.Namespace) -> Score:
    if args.score is not None:
        return score.from_file(args.score)
    if args.score_command is not None:
        return score.from_command(args.score_command)
    return score.Listing2(score.SLA if args.sla is None else args.sla)


def _measure(
    args: argparse.Namespace, tuned: Tuned, setting: DamonSetting
) -> tuple[Measure, float | None]:
    """Return what measures a value, and how long that takes in seconds if this is known."""
    if args.pid is None:
        command = Command(args.program, callers_environment(os.environ), setting)
        terminal.say("running the command once, unmeasured, so that its files are in memory")
        command.measure(None)
        return command.measure, None
    unit = args.unit or _default_unit(tuned)
    progress: Callable[[], float] | None = None
    if args.progress is not None:
        progress = functools.partial(score.run_for_number, args.progress, "--progress")
    else:
        terminal.say(
            "performance is CPU time in user mode: right for a process that computes all the time, "
            "blind to latency (--progress measures your own)"
        )
    terminal.say(
        "memory that a value reclaims stays reclaimed under the next ones until it is used again"
    )
    return Process(args.pid, unit, progress, setting).measure, unit


def _default_unit(tuned: Tuned) -> float:
    """Return seconds: an age needs as long to take effect, and half of a unit is for that."""
    age = scheme.number(tuned.high) / 1e6 if tuned.threshold.endswith("_age") else 0.0
    return max(UNIT_MIN_SECONDS, 2 * age)


def _count(args: argparse.Namespace, tuned: Tuned, unit: float) -> int:
    """Return the number of samples, given the seconds for one (DAOS, section 3.5)."""
    if args.pid is None:
        _warn(tuned, unit)
    if args.samples is not None:
        return int(args.samples)
    # A command has run once before, unmeasured.
    unmeasured = 1 if args.pid is None else 0
    return int(args.limit / unit) - EXTRA_RUNS - unmeasured


def _warn(tuned: Tuned, runtime: float) -> None:
    """Print messages about a command that is too short for the scheme."""
    if runtime < SHORT_SECONDS:
        terminal.say(f"the command takes only {runtime:.1f} s: expect noise; longer is better")
    if tuned.threshold == "min_age" and scheme.number(tuned.high) / 1e6 > runtime:
        terminal.say(
            f"no memory gets older than the command, {runtime:.1f} s: ages above that have no "
            "effect; a smaller range uses the samples better"
        )


def _optimizer(args: argparse.Namespace, tuned: Tuned, samples: int) -> optimizer.Optimizer:
    low, high = scheme.number(tuned.low), scheme.number(tuned.high)
    return optimizer.make(args.optimizer, low, high, samples, args.seed)


def _report(schemes: Sequence[Scheme], sample: Sample, number: int, total: int) -> None:
    what = "no scheme" if sample.value is None else document.value_text(schemes, sample.value)
    memory = sample.measured.memory / (1 << 20)
    terminal.say(
        f"{number} of {total}: {what}: {sample.measured.runtime:.4g} s, {memory:,.1f} MiB, "
        f"score {sample.score:+.3f}"
    )


def _deliver(args: argparse.Namespace, schemes: Sequence[Scheme], result: Result) -> None:
    settings: Mapping[str, Any] = {
        "scheme": args.scheme,
        "command": args.program,
        "pid": args.pid,
        "workload": args.workload,
        "size": "quick" if args.quick else "long" if args.long else "full",
        "optimizer": args.optimizer,
        "seed": args.seed,
    }
    content = document.assemble(schemes, result, settings)
    try:
        output.deliver(args, content, lambda: _print(schemes, result, content))
    finally:
        if args.plot is not None:
            _plot(args, schemes, result)
    if args.apply and result.verdict is not Verdict.BETTER:
        terminal.say("the scheme is not applied, since it is not known to be better than none")


def _print(schemes: Sequence[Scheme], result: Result, content: Mapping[str, Any]) -> None:
    out = terminal.lists()
    for table in document.tables(schemes, result):
        out.print(table)
    value, low, high = content["best"]["value"], content["low"], content["high"]
    if min(value - low, high - value) < (high - low) / optimizer.CURVE_POINTS:
        out.print("the best value is at an end of the range: a wider range may have a better one")
    out.print("tuned scheme:")
    for line in content["tuned_schemes"]:
        out.print(f"    {line}", markup=False, soft_wrap=True)
    workload = content["settings"]["workload"]
    if workload is None:
        return
    value = _best_value(schemes, result) if result.verdict is Verdict.BETTER else scheme.NONE
    out.print("for the file of a policy with this scheme:")
    for line in (
        f"[scheme.for.{workload}]",
        f'value = "{value}"',
        f"seed = {content['settings']['seed']}",
    ):
        out.print(f"    {line}", markup=False, soft_wrap=True)


def _best_value(schemes: Sequence[Scheme], result: Result) -> str:
    best = _marked(scheme.at(schemes, result.best.value))
    assert best.tuned is not None
    return text.format_value(best.tuned.threshold, getattr(best, best.tuned.threshold))


def _plot(args: argparse.Namespace, schemes: Sequence[Scheme], result: Result) -> None:
    tuned = _marked(schemes).tuned
    assert tuned is not None
    name = tuned.threshold.replace("_", "-")
    unit, scale = ("s", 1e6) if name.endswith("age") else ("MiB", float(1 << 20))
    if isinstance(tuned.low, units.Frequency):
        unit, scale = ("%" if tuned.low.percent else "samples", 1.0)
    plot.plot(args.plot, f"{args.scheme}", f"{name}, {unit}", scale, result)
