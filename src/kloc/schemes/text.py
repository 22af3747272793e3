# SPDX-License-Identifier: GPL-2.0
"""Schemes as text (DAOS, section 3.2, Listings 1 and 3).

A line has the paper's seven values, and may have more words after the action:

    # size    frequency  age              action
    4K max    min min    5s{1s..60s} max  pageout  quota time=10ms bytes=128M  skip young

docs/tuning.md describes all words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from kloc.base import paths
from kloc.base.errors import KlocError, closest
from kloc.schemes import units
from kloc.schemes.scheme import (
    ACTIONS,
    METRICS,
    MIGRATIONS,
    PAGE,
    THRESHOLDS,
    TIERS,
    Filter,
    Node,
    Quota,
    Scheme,
    Threshold,
    Tuned,
    Value,
    Watermarks,
)

FOLDER = paths.shipped("schemes")
"""The schemes that come with kloc."""

SUFFIX = ".scheme"

SPELLINGS = {"page_out": "pageout", "thp": "hugepage", "nothp": "nohugepage"}
"""The paper's names of actions in Listing 1, and the kernel's."""

PARSERS: Mapping[str, Callable[[str], Value]] = {
    "size": units.parse_size,
    "frequency": units.parse_frequency,
    "age": units.parse_age,
}
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "size": units.format_size,
    "frequency": units.format_frequency,
    "age": units.format_age,
}
"""The functions for the thresholds, by the end of their names."""

WEIGHTS = ("size", "frequency", "age")

WORDS = "node=N, from=N, quota, watermarks, skip FILTER, only FILTER"
FILTERS = "anon, young, memcg=PATH, addr=START-END, target=N"
QUOTA = "time=10ms, bytes=128M, reset=1s, weights=size:0,frequency:3,age:7"
WATERMARKS = "metric=free_mem_rate, interval=5s, high=50%, mid=40%, low=20%"


@dataclass(frozen=True)
class _Word:
    """A word of a file, with where it is."""

    text: str
    source: str
    line: int

    def reject(self, problem: str, hint: str | None) -> NoReturn:
        """Raise the error about this word."""
        raise KlocError(f"{self.source}:{self.line}: {problem}", hint)

    def parse(self, text: str, parser: Callable[[str], Any]) -> Any:
        """Return what `parser` makes of a part of the word; reject it if it is not allowed."""
        try:
            return parser(text)
        except ValueError as error:
            self.reject(f"'{text}' is not allowed here", f"write {error}")


def names() -> list[str]:
    """Return the names of the ready-made schemes, and of those in the user's configuration."""
    return sorted(_files())


def _files() -> dict[str, Path]:
    return paths.found("schemes", SUFFIX, FOLDER)


def load(name: str) -> list[Scheme]:
    """Return the schemes of a file with a name, or of one given by its path.

    Raises KlocError if there is no such file, or if it has a mistake.
    """
    path = _files().get(name, Path(name))
    try:
        return parse(path.read_text(), name)
    except FileNotFoundError as error:
        similar = closest(name, names())
        guess = f", did you mean '{similar}'?" if similar else ""
        raise KlocError(
            f"{name} is neither a scheme nor a file{guess}",
            f"schemes: {', '.join(names())}; any other file is given by its path",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise KlocError(f"cannot read {name}: {error}", "name a text file with schemes") from error


def parse(text: str, source: str) -> list[Scheme]:
    """Return the schemes of a file's text; `source` names the file in errors.

    Raises KlocError with file, line, value and what is allowed. At most one threshold of a file is
    to be tuned.
    """
    schemes: list[Scheme] = []
    for words in _lines(text, source):
        scheme = _parse_line(words)
        problem = next(scheme.problems(), None)
        if problem is not None:
            words[0].reject(problem, f"the line is: {format_scheme(scheme)}")
        if scheme.tuned and any(earlier.tuned for earlier in schemes):
            words[0].reject("a second threshold is to be tuned", "leave one {..} in the file")
        schemes.append(scheme)
    if not schemes:
        raise KlocError(
            f"{source}: there is no scheme in this file",
            "a line is, for example: 4K max  min min  5s max  pageout",
        )
    return schemes


def format_scheme(scheme: Scheme) -> str:
    """Return a scheme as a line, from which `parse` makes the same scheme."""
    words = [_format_threshold(scheme, threshold) for threshold in THRESHOLDS]
    words.append(scheme.action)
    if scheme.node is not None:
        words.append(f"node={scheme.node}")
    if scheme.source is not None:
        words.append(f"from={scheme.source}")
    if scheme.quota is not None:
        words += ["quota", *_format_quota(scheme.quota)]
    if scheme.watermarks is not None:
        words += ["watermarks", *_format_watermarks(scheme.watermarks)]
    for one in scheme.filters:
        words += ["skip" if one.matching else "only", shlex.quote(_format_filter(one))]
    return " ".join(words)


def parser(threshold: Threshold) -> Callable[[str], Value]:
    """Return the function that parses a threshold; it raises ValueError."""
    return PARSERS[threshold.removeprefix("min_").removeprefix("max_")]


def format_value(threshold: Threshold, value: Value) -> str:
    """Return the value of a threshold as text."""
    return FORMATS[threshold.removeprefix("min_").removeprefix("max_")](value)


def _lines(text: str, source: str) -> Iterator[list[_Word]]:
    """Yield the words of each line that has some. A line that ends in a backslash goes on."""
    words: list[_Word] = []
    for number, line in enumerate(text.splitlines(), start=1):
        goes_on = line.rstrip().endswith("\\")
        content = line.rstrip().removesuffix("\\")
        try:
            found = shlex.split(content, comments=True)
        except ValueError as error:
            raise KlocError(f"{source}:{number}: {error}", "close the quotation mark") from error
        words += [_Word(word, source, number) for word in found]
        if words and not goes_on:
            yield words
            words = []
    if words:
        yield words


def _parse_line(words: Sequence[_Word]) -> Scheme:
    if len(words) < len(THRESHOLDS) + 1:
        words[0].reject(
            f"the line has {len(words)} of 7 values",
            "min-size max-size  min-frequency max-frequency  min-age max-age  action",
        )
    values: dict[str, Any] = {}
    for threshold, word in zip(THRESHOLDS, words, strict=False):
        value, ends = _parse_threshold(threshold, word)
        values[threshold] = value
        if ends is not None:
            if "tuned" in values:
                word.reject("a second threshold is to be tuned", "leave one {..} in the file")
            values["tuned"] = Tuned(threshold, *ends)
    values["action"] = _parse_action(words[len(THRESHOLDS)])
    return _parse_options(Scheme(**values), list(words[len(THRESHOLDS) + 1 :]))


def _parse_threshold(threshold: Threshold, word: _Word) -> tuple[Value, tuple[Value, Value] | None]:
    """Return the value of a threshold, and the ends of its range if it is to be tuned."""
    parse = parser(threshold)
    text, brace, rest = word.text.partition("{")
    if brace and not (text and rest.endswith("}") and ".." in rest):
        word.reject(
            f"'{word.text}' is not a value with a range",
            "write the value without tuning and the range of the tuner: 5s{1s..60s}",
        )
    value = word.parse(text, parse)
    if not brace:
        return value, None
    low, _, high = rest.removesuffix("}").partition("..")
    ends = word.parse(low, parse), word.parse(high, parse)
    if "max" in (low, high):
        word.reject(f"'{word.text}' has max in its range", "end the range with a number")
    if isinstance(ends[0], units.Frequency) and ends[0].percent != ends[1].percent:
        word.reject(f"'{word.text}' mixes samples and percent", "write both ends in one of them")
    return value, ends


def _parse_action(word: _Word) -> str:
    name = SPELLINGS.get(word.text.lower(), word.text.lower())
    if name not in ACTIONS:
        similar = closest(name, [*ACTIONS, *SPELLINGS])
        guess = f", did you mean '{similar}'?" if similar else ""
        word.reject(f"unknown action '{word.text}'{guess}", f"actions: {', '.join(ACTIONS)}")
    return name


def _parse_options(scheme: Scheme, words: list[_Word]) -> Scheme:
    """Return the scheme with what the words after its action say."""
    while words:
        word = words.pop(0)
        if word.text.startswith("node="):
            if scheme.action not in MIGRATIONS:
                word.reject(f"{scheme.action} takes no node", "only migrate_hot and migrate_cold")
            scheme = replace(scheme, node=word.parse(word.text.removeprefix("node="), _node))
        elif word.text.startswith("from=") and scheme.source is None:
            scheme = replace(scheme, source=word.parse(word.text.removeprefix("from="), _node))
        elif word.text == "quota" and scheme.quota is None:
            scheme = replace(scheme, quota=_parse_quota(word, _settings(words)))
        elif word.text == "watermarks" and scheme.watermarks is None:
            scheme = replace(scheme, watermarks=_parse_watermarks(word, _settings(words)))
        elif word.text in ("skip", "only"):
            if not words:
                word.reject(f"'{word.text}' names no filter", f"filters: {FILTERS}")
            one = _parse_filter(words.pop(0), word.text == "skip")
            scheme = replace(scheme, filters=(*scheme.filters, one))
        else:
            word.reject(f"'{word.text}' is not allowed here", f"after the action: {WORDS}")
    return scheme


def _settings(words: list[_Word]) -> dict[str, _Word]:
    """Remove the words KEY=VALUE from the start of `words`, and return them by their keys."""
    found: dict[str, _Word] = {}
    while words and "=" in words[0].text and not words[0].text.startswith(("node=", "from=")):
        word = words.pop(0)
        key, _, text = word.text.partition("=")
        if key in found:
            word.reject(f"'{key}=' is given twice", "leave one of them")
        found[key] = replace(word, text=text)
    return found


def _parse_quota(word: _Word, settings: Mapping[str, _Word]) -> Quota:
    _check_keys(word, settings, ("time", "bytes", "reset", "weights"), QUOTA)
    if not settings:
        word.reject("the quota has no limit", f"a quota has some of {QUOTA}")
    quota = Quota()
    if "time" in settings:
        quota = replace(quota, time_ms=_milliseconds(settings["time"]))
    if "bytes" in settings:
        quota = replace(quota, size=settings["bytes"].parse(settings["bytes"].text, _quota_size))
    if "reset" in settings:
        quota = replace(quota, reset_ms=_milliseconds(settings["reset"]))
    if "weights" in settings:
        quota = replace(quota, weights=_parse_weights(settings["weights"]))
    return quota


def _parse_weights(word: _Word) -> tuple[int, int, int]:
    weights = dict.fromkeys(WEIGHTS, 0)
    for part in word.text.split(","):
        name, colon, text = part.partition(":")
        if name not in weights or not colon:
            word.reject(f"'{part}' is not a weight", "weights=size:0,frequency:3,age:7")
        weights[name] = word.parse(text, _whole)
    return weights["size"], weights["frequency"], weights["age"]


def _parse_watermarks(word: _Word, settings: Mapping[str, _Word]) -> Watermarks:
    keys = ("metric", "interval", "high", "mid", "low")
    _check_keys(word, settings, keys, WATERMARKS)
    missing = [key for key in keys if key not in settings]
    if missing:
        word.reject(f"the watermarks lack {', '.join(missing)}", f"write all of {WATERMARKS}")
    metric = settings["metric"]
    if metric.text not in METRICS:
        metric.reject(f"unknown metric '{metric.text}'", f"metrics: {', '.join(METRICS)}")
    interval = settings["interval"]
    return Watermarks(
        metric.text,
        interval.parse(interval.text, units.parse_time),
        *(settings[key].parse(settings[key].text, units.parse_share) for key in keys[2:]),
    )


def _check_keys(
    word: _Word, settings: Mapping[str, _Word], keys: Sequence[str], allowed: str
) -> None:
    for key, setting in settings.items():
        if key not in keys:
            setting.reject(f"{word.text} has no '{key}='", f"write some of {allowed}")


def _parse_filter(word: _Word, matching: bool) -> Filter:
    kind, equals, text = word.text.partition("=")
    if kind in ("anon", "young") and not equals:
        return Filter(kind, matching)
    if kind == "memcg" and text:
        return Filter(kind, matching, text)
    if kind == "target" and text:
        return Filter(kind, matching, word.parse(text, _whole))
    if kind == "addr" and "-" in text:
        start, _, end = text.partition("-")
        return Filter(kind, matching, (word.parse(start, _address), word.parse(end, _address)))
    return word.reject(f"'{word.text}' is not a filter", f"filters: {FILTERS}")


def _milliseconds(word: _Word) -> int:
    time: int = word.parse(word.text, units.parse_time)
    if time % 1000:
        word.reject(f"'{word.text}' is not a whole number of milliseconds", "write 10ms")
    return time // 1000


def _quota_size(text: str) -> int:
    size = units.parse_size(text)
    if size == units.MAX:
        raise ValueError("a size such as 128M; without bytes= there is no limit")
    if size % PAGE:
        # DAMON acts on whole pages. What is left of another quota, it neither uses nor sees as
        # used up, and then it begins with the first region in each interval, never with a later.
        raise ValueError("whole pages of 4K, such as 128M")
    return size


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("a whole number")
    return int(text)


def _node(text: str) -> Node:
    if text not in TIERS and not text.isdecimal():
        raise ValueError(f"the number of a node, or a tier: {', '.join(TIERS)}")
    return text if text in TIERS else int(text)


def _address(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError("an address such as 0x7f0000000000") from None


def _format_threshold(scheme: Scheme, threshold: Threshold) -> str:
    text = format_value(threshold, getattr(scheme, threshold))
    tuned = scheme.tuned
    if tuned is None or tuned.threshold != threshold:
        return text
    ends = (format_value(threshold, end) for end in (tuned.low, tuned.high))
    return f"{text}{{{'..'.join(ends)}}}"


def _format_quota(quota: Quota) -> Iterator[str]:
    if quota.time_ms:
        yield f"time={units.format_time(quota.time_ms * 1000)}"
    if quota.size:
        yield f"bytes={units.format_size(quota.size)}"
    yield f"reset={units.format_time(quota.reset_ms * 1000)}"
    if any(quota.weights):
        pairs = zip(WEIGHTS, quota.weights, strict=True)
        yield f"weights={','.join(f'{name}:{weight}' for name, weight in pairs)}"


def _format_watermarks(marks: Watermarks) -> Iterator[str]:
    yield f"metric={marks.metric}"
    yield f"interval={units.format_time(marks.interval_us)}"
    for name in ("high", "mid", "low"):
        yield f"{name}={units.format_share(getattr(marks, name))}"


def _format_filter(one: Filter) -> str:
    if isinstance(one.value, tuple):
        return f"{one.kind}={one.value[0]:#x}-{one.value[1]:#x}"
    return one.kind if one.value is None else f"{one.kind}={one.value}"
