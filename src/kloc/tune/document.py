# SPDX-License-Identifier: GPL-2.0
"""The result of `kloc tune` as a document, which is what --json writes, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kloc.base import revision
from kloc.schemes import scheme, text, units
from kloc.schemes.scheme import Scheme, Tuned
from kloc.tune.tuner import Result, Sample, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS = 13
"""The rows of the drawn curve."""

BAR = 40
"""The columns of a bar of the drawn curve."""

ADVICE = {
    Verdict.BETTER: "the tuned scheme is better than no scheme",
    Verdict.NOT_BETTER: "no scheme is better: no value is expected to have a higher score",
    Verdict.CANNOT_TELL: "cannot tell whether the tuned scheme is better than no scheme: "
    "the gain is within the noise; take more samples or longer ones, or use no scheme",
}


def assemble(
    schemes: Sequence[Scheme], result: Result, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document; `settings` are those of the run, such as seed and optimizer.

    Values are in the unit of the threshold: bytes, samples or percent, or microseconds.
    """
    tuned = _tuned(schemes)
    return {
        "kloc": revision.commit(),
        "settings": dict(settings),
        "threshold": tuned.threshold,
        "low": scheme.number(tuned.low),
        "high": scheme.number(tuned.high),
        "none": _sample(result.none),
        "untuned": _sample(result.untuned),
        "samples": [_sample(sample) for sample in result.samples],
        "curve": [list(point) for point in result.best.curve],
        "best": {"value": result.best.value, "score": result.best.score},
        "gain": result.gain,
        "margin": result.margin,
        "verdict": result.verdict.value,
        "untuned_schemes": [text.format_scheme(one) for one in schemes],
        "tuned_schemes": [text.format_scheme(one) for one in scheme.at(schemes, result.best.value)],
    }


def value_text(schemes: Sequence[Scheme], number: float) -> str:
    """Return a value of the tuned threshold as people read it: 17.3s, 2.1M, 40%."""
    low = _tuned(schemes).low
    if isinstance(low, units.Frequency):
        return f"{number:.3g}{'%' if low.percent else ''}"
    ages = "age" in _tuned(schemes).threshold
    scale = {"s": 10**6, "ms": 1000, "us": 1} if ages else units.SIZES
    fitting = [name for name, size in scale.items() if number >= size]
    name = max(fitting, key=scale.__getitem__, default="us" if ages else "")
    return f"{number / scale[name]:.3g}{name}"


def tables(schemes: Sequence[Scheme], result: Result) -> list[RenderableType]:
    """Return the samples, the curve, and the scores of the found value, the untuned one, and none.

    What is below 0 in the curve has a bar to the left.
    """
    show: Callable[[float], str] = lambda number: value_text(schemes, number)  # noqa: E731
    return [
        _samples_table(schemes, result, show),
        _curve_table(result, show),
        _verdict(result, show),
    ]


def _samples_table(
    schemes: Sequence[Scheme], result: Result, show: Callable[[float], str]
) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(_tuned(schemes).threshold.replace("_", "-"))
    for title in ("runtime, s", "memory, MiB", "score"):
        table.add_column(title, justify="right")
    ordered = sorted(result.samples, key=lambda sample: sample.value or 0.0)
    labels = [
        ("no scheme", result.none),
        (f"{show(result.untuned.value or 0)}, untuned", result.untuned),
    ]
    for label, sample in [*labels, *((show(one.value or 0), one) for one in ordered)]:
        measured = sample.measured
        memory = f"{measured.memory / (1 << 20):,.1f}"
        table.add_row(label, f"{measured.runtime:.4g}", memory, f"{sample.score:+.3f}")
    return table


def _curve_table(result: Result, show: Callable[[float], str]) -> RenderableType:
    """Return the estimated curve, a row for each part of its range; * is the best value's."""
    from rich import box
    from rich.bar import Bar
    from rich.table import Table

    points = result.best.curve
    step = max(1, (len(points) - 1) // (ROWS - 1))
    # As printed: the last digits of an estimate differ between processors.
    shown = [(value, round(score, 3)) for value, score in points[::step]]
    best = min(shown, key=lambda point: abs(point[0] - result.best.value))
    low = min(0.0, *(score for _, score in shown))
    size = max(0.0, *(score for _, score in shown)) - low or 1.0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("value", justify="right")
    table.add_column("estimate", justify="right")
    table.add_column("", width=BAR)
    table.add_column("samples")
    for point in shown:
        value, score = point
        ends = sorted((-low, score - low))
        near = [
            f"{sample.score:+.3f}"
            for sample in result.samples
            if min(shown, key=lambda other: abs(other[0] - (sample.value or 0))) == point
        ]
        mark = "*" if point == best else " "
        bar = Bar(size, *ends, width=BAR)
        table.add_row(show(value), f"{score:+.3f} {mark}", bar, ", ".join(near))
    return table


def _verdict(result: Result, show: Callable[[float], str]) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("best value", show(result.best.value))
    table.add_row("score, estimated", f"{result.best.score:+.3f}")
    table.add_row("untuned", f"{result.untuned.score:+.3f}, one run")
    table.add_row("no scheme", f"{result.none.score:+.3f}")
    table.add_row("gain over none", f"{result.gain:+.3f}; noise explains up to {result.margin:.3f}")
    table.add_row("verdict", ADVICE[result.verdict])
    return table


def _tuned(schemes: Sequence[Scheme]) -> Tuned:
    found = scheme.tuned_scheme(schemes)
    assert found is not None and found.tuned is not None
    return found.tuned


def _sample(sample: Sample) -> dict[str, Any]:
    return {"value": sample.value, "score": sample.score, **asdict(sample.measured)}
