# SPDX-License-Identifier: GPL-2.0
"""What tests take from the output of selftests (support.selftests)."""

from __future__ import annotations

import pytest

from kloc.machine.launcher import RunFailed
from support import selftests

PASSED = "== kloc/a.sh\n1..1\nok 1 control: no\n== exit 0\n"
FAILED = "== kloc/b.sh\n1..1\nnot ok 1 control: no\n== exit 1\n"
AGAIN = "== kloc/b.sh\n1..1\nok 1 control: no\n== exit 0\n"


def test_each_selftest_has_its_output_and_status() -> None:
    printed = selftests.parse(PASSED + FAILED)
    assert printed["kloc/a.sh"] == ("1..1\nok 1 control: no\n", 0)
    selftests.check(printed, "kloc/a.sh")
    with pytest.raises(AssertionError, match="not ok 1"):
        selftests.check(printed, "kloc/b.sh")


def test_a_selftest_that_passes_the_second_time_is_told() -> None:
    with pytest.warns(UserWarning, match=r"kloc/b.sh failed, and ran again:\n1..1\nnot ok 1"):
        printed = selftests.parse(FAILED + PASSED + AGAIN)
    selftests.check(printed, "kloc/b.sh")


def test_a_selftest_that_fails_twice_fails() -> None:
    with pytest.warns(UserWarning):
        printed = selftests.parse(FAILED + FAILED)
    with pytest.raises(AssertionError, match="not ok 1"):
        selftests.check(printed, "kloc/b.sh")


def test_a_machine_that_fails_is_not_started_again() -> None:
    started = []

    @selftests.once
    def run(machine: str) -> selftests.Printed:
        started.append(machine)
        if machine == "bad":
            raise RunFailed("it hangs")
        return {}

    for _ in range(2):
        assert run("good") == {}
        with pytest.raises(RunFailed, match="it hangs"):
            run("bad")
    assert started == ["good", "bad"]


def test_a_machine_that_hangs_is_started_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[selftests.Printed | RunFailed] = [selftests.Hangs("it hangs"), {}]

    def run(_: object) -> selftests.Printed:
        outcome = outcomes.pop(0)
        if isinstance(outcome, RunFailed):
            raise outcome
        return outcome

    monkeypatch.setattr(selftests, "_run", run)
    with pytest.warns(UserWarning, match="started again: it hangs"):
        assert selftests.run(None) == {}  # type: ignore[arg-type]
    outcomes[:] = [selftests.Hangs("it hangs"), selftests.Hangs("it hangs again")]
    with pytest.warns(UserWarning), pytest.raises(RunFailed, match="again"):
        selftests.run(None)  # type: ignore[arg-type]
    outcomes[:] = [RunFailed(f"selftests: {selftests.ABORTED}"), {}]
    with pytest.warns(UserWarning, match="started again"):
        assert selftests.run(None) == {}  # type: ignore[arg-type]
    outcomes[:] = [RunFailed("no such file")]
    with pytest.raises(RunFailed, match="no such file"):
        selftests.run(None)  # type: ignore[arg-type]
