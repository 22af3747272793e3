# SPDX-License-Identifier: GPL-2.0
"""The output of calls.c: its figures, and output that is refused."""

from __future__ import annotations

import pytest

from kloc.base.errors import KlocError
from kloc.measure.cost import parser

PRINTED = """\
group check
rounds 2 900
call 0 nothing: 6:2
call 1 known: 408:2
group files
rounds 4 5000
call 2 open: 506:3 3000:1
call 4 write: 206:1 306:2 406:1
group processes
rounds 2 20000
call 10 fork, exit, wait: 9006:1 9106:1
done
"""
TOUCHED = "0 0\n1 100\n0 0\n1 100\n2 20\n4 9\n2 20\n4 9\n2 20\n4 8\n2 90\n4 9\n10 400\n10 402\n"


def parsed(printed: str = PRINTED, touched: str = TOUCHED) -> parser.Run:
    return parser.parse(printed.splitlines(), touched)


def test_a_call_has_its_median_without_the_instructions_of_measuring() -> None:
    (files, processes), _ = parsed()
    assert files.calls == (parser.Call("open", 500, 20), parser.Call("write", 300, 9))
    assert processes.calls[0].name == "fork, exit, wait"


def test_a_group_has_the_mean_of_complete_rounds() -> None:
    (files, _), _ = parsed()
    assert (files.name, files.rounds, files.instructions) == ("files", 4, 1250)
    assert files.lines == (3 * 20 + 90 + 3 * 9 + 8) / 4


def test_memory_of_contexts_is_read_if_they_are_enabled() -> None:
    assert parsed()[1] is None
    enabled = PRINTED.replace("done", "contexts 200 20800 800 4000 4000000\ndone")
    assert parsed(enabled)[1] == parser.Memory(
        contexts=200, knodes=20800, pages=800, counts=4000, memory=4000000
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        pytest.param("done\n", "failed open: No such file\n", "open: No such file", id="failure"),
        pytest.param("done\n", "", "ended before", id="no end"),
        pytest.param("open: 506:3", "open: 506:2", "open.* 4 .* 3 .* 4 ", id="a call too few"),
        pytest.param("rounds 4", "rounds 5", "open.* 5 .* 4 ", id="a round too many"),
        pytest.param("known: 408", "known: 409", "402 .* 403", id="a wrong count"),
    ],
)
def test_incomplete_or_wrong_output_is_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(KlocError, match=reason):
        parsed(PRINTED.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        pytest.param("10 402\n", "", "fork, exit, wait.* 2 .* 2 .* 1 ", id="a call too few"),
        pytest.param("1 100\n", "1 99\n", "100 .* 402, 99 and 0", id="a line too few"),
        pytest.param("0 0\n", "0 1\n", "100 .* 402, 100 and 1", id="a line without a call"),
    ],
)
def test_incomplete_or_wrong_cache_lines_are_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(KlocError, match=reason):
        parsed(touched=TOUCHED.replace(old, new))
