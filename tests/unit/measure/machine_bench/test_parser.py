# SPDX-License-Identifier: GPL-2.0
"""Reading what the programs with known answers print."""

from __future__ import annotations

import pytest

from kloc.base.errors import KlocError
from kloc.measure.machine_bench import parser
from kloc.measure.machine_bench.answers import Answer

ANSWERS = (Answer("a.b", "a", "ns", None), Answer("c", "c", "us", None))
PRINTED = "known c 2.5 us\nsomething else\n\nknown a.b 80 ns\n"


def test_values_are_found_by_name() -> None:
    assert parser.parse(PRINTED, ANSWERS) == {"a.b": 80, "c": 2.5}


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("known c 2.5 us\n", "did not print .*: a.b"),
        (PRINTED + "known c 3 us\n", "c was printed twice"),
        (PRINTED.replace("ns", "us"), "a.b and has the unit us"),
        (PRINTED + "known d 1 us\n", "called d"),
        (PRINTED.replace("80", "much"), "printed 'known a.b much ns'"),
        (PRINTED.replace("80", "nan"), "above 0"),
        (PRINTED.replace("80", "0"), "above 0"),
        (PRINTED + "known d\n", "printed 'known d'"),
    ],
)
def test_output_that_is_incomplete_or_wrong_is_an_error(printed: str, message: str) -> None:
    with pytest.raises(KlocError, match=message):
        parser.parse(printed, ANSWERS)
