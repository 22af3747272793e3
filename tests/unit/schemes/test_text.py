# SPDX-License-Identifier: GPL-2.0
"""Schemes as text: the paper's listings, all words, errors, and the way back to text."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.schemes import text, units
from kloc.schemes.scheme import (
    ACTIONS,
    MIGRATIONS,
    Filter,
    Quota,
    Scheme,
    Tuned,
    Watermarks,
)
from kloc.schemes.units import MAX, MAX_FREQUENCY, MIN_FREQUENCY, Frequency

LISTING_1 = """\
# size    frequency age    action
# page out memory regions not accessed
# >=2 minutes
min max  min min    2m max  page_out

# Use THP for >=2MiB regions having
# >=80% frequency ratio for >=1 minute
2MB max  80% max  1m max  thp

# Do not use THP for regions having
# <=5% frequency ratio for >=1 minute
min max  min 5%    1m max  nothp
"""

LISTING_3 = """\
min max\t5 max\tmin max\thugepage
2M max\tmin min\t7s max\tnohugepage

4K max\tmin min\t5s max\tpageout
"""

LONG = (
    r"4K max  min 20%  5s{1s..60s} max  migrate_cold node=1 \ " + "\n"
    "    quota time=10ms bytes=128M reset=1s weights=size:1,frequency:3,age:7\n"
).replace("\\ \n", "\\\n")

OPTIONS = (
    LONG.rstrip("\n")
    + " watermarks metric=free_mem_rate interval=5s high=50% mid=40% low=20.5% \\\n"
    + "  skip anon only 'memcg=/a b' skip young only addr=0x1000-0x2000 skip target=3 # end\n"
)


def percent(number: int) -> Frequency:
    return Frequency(Fraction(number), percent=True)


def test_listing_1_of_the_paper_is_understood() -> None:
    reclaim, huge, small = text.parse(LISTING_1, "listing")
    assert reclaim == Scheme(
        0, MAX, MIN_FREQUENCY, MIN_FREQUENCY, 120_000_000, MAX, action="pageout"
    )
    assert (huge.min_size, huge.min_frequency, huge.action) == (2 << 20, percent(80), "hugepage")
    assert (small.max_frequency, small.min_age, small.action) == (
        percent(5),
        60_000_000,
        "nohugepage",
    )


def test_listing_3_of_the_paper_is_understood() -> None:
    huge, small, reclaim = text.parse(LISTING_3, "listing")
    assert (huge.min_frequency, huge.max_frequency) == (Frequency(Fraction(5)), MAX_FREQUENCY)
    assert (small.min_size, small.min_age) == (2 << 20, 7_000_000)
    assert (reclaim.min_size, reclaim.min_age, reclaim.action) == (4096, 5_000_000, "pageout")


def test_ready_made_schemes_are_those_of_listing_3() -> None:
    huge, small, reclaim = text.parse(LISTING_3.replace("5 max", "5% max"), "listing")
    from dataclasses import replace

    assert text.names() == ["damon-tier", "ethp", "idle", "prcl"]
    assert [replace(one, tuned=None) for one in text.load("prcl")] == [reclaim]
    assert [replace(one, tuned=None) for one in text.load("ethp")] == [huge, small]


def test_all_words_after_the_action_are_understood() -> None:
    (one,) = text.parse(OPTIONS, "f")
    assert one.node == 1
    assert one.tuned == Tuned("min_age", 1_000_000, 60_000_000)
    assert one.min_age == 5_000_000
    assert one.quota == Quota(10, 128 << 20, 1000, (1, 3, 7))
    assert one.watermarks == Watermarks("free_mem_rate", 5_000_000, 500, 400, 205)
    assert one.filters == (
        Filter("anon", True),
        Filter("memcg", False, "/a b"),
        Filter("young", True),
        Filter("addr", False, (0x1000, 0x2000)),
        Filter("target", True, 3),
    )
    assert text.parse(text.format_scheme(one), "again") == [one]


def random_scheme(rng: random.Random) -> Scheme:
    """Return any scheme that a file can have."""
    sizes = sorted(rng.choice([0, 1, 4095, 4096, 3 << 20, 1 << 40, MAX]) for _ in range(2))
    ages = sorted(rng.choice([0, 1, 999, 100_000, 17_300_000, 86400 * 10**6, MAX]) for _ in "12")
    rates = sorted(rng.choice([0, 1, 20, 100]) for _ in range(2))
    kind = rng.random() < 0.5
    action = rng.choice(list(ACTIONS))
    quota = Quota(rng.choice([0, 7]), rng.choice([4096, 1 << 30]), 1500, (0, 1, rng.randrange(3)))
    filters = [
        Filter("anon", True),
        Filter("memcg", False, "/x'y #z"),
        Filter("addr", True, (0, 1 << 47)),
        Filter("target", False, 2),
    ]
    tuned = Tuned("max_age", 1_500_000, 90_000_000) if ages == [0, MAX] else None
    return Scheme(
        *sizes,
        *(Frequency(Fraction(rate, 1 if not kind else 4), kind) for rate in rates),
        *ages,
        action=action,
        node=rng.randrange(4) if action in MIGRATIONS else None,
        quota=rng.choice([None, quota]),
        watermarks=rng.choice([None, Watermarks("free_mem_rate", 1, 999, 500, 5)]),
        filters=tuple(filters[: rng.randrange(5)]),
        tuned=tuned,
    )


def test_a_scheme_is_the_same_after_the_way_to_text_and_back() -> None:
    rng = random.Random(1)
    schemes = [random_scheme(rng) for _ in range(500)]
    assert any(one.tuned for one in schemes)
    for one in schemes:
        assert text.parse(text.format_scheme(one), "f") == [one]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("4X max min min min max stat", ["'4X'", "a size such as 4K"]),
        ("min max min 120% min max stat", ["'120%'", "a percentage such as 80%"]),
        ("min max min min 7 max stat", ["'7'", "an age such as 100ms"]),
        ("min max min min min max pagout", ["'pagout'", "did you mean 'pageout'", "migrate_cold"]),
        ("min max min min 5s max", ["6 of 7 values", "min-age max-age"]),
        ("2M 4K min min min max stat", ["min-size is above max-size", "2M 4K"]),
        ("min max 5 2 min max stat", ["min-frequency is above max-frequency"]),
        ("min max min min max 5s stat", ["min-age is above max-age"]),
        ("min max min min min max migrate_hot", ["needs node=N"]),
        ("min max min min min max stat node=1", ["stat takes no node"]),
        ("min max min min min max stat quota", ["quota has no limit", "time=10ms"]),
        ("min max min min min max stat quota speed=1", ["no 'speed='", "time=10ms"]),
        ("min max min min min max stat quota time=1s time=2s", ["given twice"]),
        ("min max min min min max stat quota bytes=max", ["'max'", "128M"]),
        ("min max min min min max stat quota bytes=5000", ["'5000'", "whole pages of 4K"]),
        ("min max min min min max stat quota time=5us", ["'5us'", "milliseconds"]),
        ("min max min min min max stat quota weights=big:1", ["'big:1'", "frequency:3"]),
        ("min max min min min max stat watermarks high=5%", ["lack metric, interval, mid, low"]),
        (
            "min max min min min max stat watermarks metric=load interval=1s high=3% mid=2% low=1%",
            ["'load'", "free_mem_rate"],
        ),
        (
            "min max min min min max stat watermarks metric=none interval=1s high=1% mid=2% low=3%",
            ["high, mid, low"],
        ),
        ("min max min min min max stat skip", ["names no filter", "memcg=PATH"]),
        ("min max min min min max stat skip hot", ["'hot'", "memcg=PATH"]),
        ("min max min min min max stat only addr=1-x", ["'x'", "0x7f"]),
        ("min max min min min max stat fast", ["'fast'", "quota, watermarks"]),
        ("min max min min {1s..2s} max stat", ["5s{1s..60s}"]),
        ("min max min min 1s{1s..max} max stat", ["max in its range"]),
        ("min max min 1{1..5%} min max stat", ["mixes samples and percent"]),
        ("min max min min 1s{2s..1s} max stat", ["smaller end second"]),
        ("min max min min 1s{1s..9s} 5s stat", ["in the tuned range, min-age is above max-age"]),
        ("min max min min 1s{1s..2s} 9s{5s..9s} stat", ["a second threshold"]),
        ("min max min min min max stat only 'anon", ["close the quotation mark"]),
    ],
)
def test_errors_name_file_line_value_and_what_is_allowed(line: str, words: list[str]) -> None:
    with pytest.raises(KlocError, match=r"^mine\.scheme:3: ") as error:
        text.parse(f"# heading\n\n{line}\n", "mine.scheme")
    shown = f"{error.value.message}\n{error.value.hint}"
    assert all(word in shown for word in words), shown


def test_a_second_tuned_threshold_in_another_line_is_an_error() -> None:
    line = "min max min min 1s{1s..2s} max stat\n"
    with pytest.raises(KlocError, match=r"^f:2: a second threshold"):
        text.parse(line * 2, "f")


def test_an_error_in_a_continued_line_names_its_own_line() -> None:
    with pytest.raises(KlocError, match=r"^f:2: 'hot' is not a filter"):
        text.parse("min max min min min max stat \\\n skip hot", "f")


def test_files_are_named_by_their_path_or_as_ready_made(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("min max min min min max stat\n")
    assert text.load(str(path))[0].action == "stat"
    with pytest.raises(KlocError, match="'prcl'"):
        text.load("prlc")
    path.write_text("# nothing\n")
    with pytest.raises(KlocError, match="no scheme in this file"):
        text.load(str(path))
    with pytest.raises(KlocError, match="cannot read"):
        text.load(str(tmp_path))


def test_every_unit_of_each_kind_is_accepted() -> None:
    for name, size in itertools.chain(units.SIZES.items()):
        assert units.parse_size(f"3{name}") == 3 * size
    for name, age in units.AGES.items():
        assert units.parse_age(f"3{name}") == 3 * age
