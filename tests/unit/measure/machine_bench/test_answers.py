# SPDX-License-Identifier: GPL-2.0
"""The known answers: their programs, names and expectations."""

from __future__ import annotations

import re

import pytest

from kloc.base.errors import KlocError, UsageError
from kloc.machine import profile
from kloc.measure.machine_bench import answers
from support.made_up_answers import exact, machine

HOST = machine()
FOUR_NODE = profile.read("four-node")


def expected(name: str) -> float:
    """Return what an answer should be on HOST."""
    return exact(answers.GROUPS, HOST)[name]


def test_names_are_unique() -> None:
    names = [answer.name for group in answers.GROUPS for answer in group.answers]
    assert len(names) == len(set(names))


def test_each_group_runs_programs_that_exist() -> None:
    used = {
        command.split()[0]
        for group in answers.GROUPS
        for host in (HOST, FOUR_NODE)
        for command in group.commands(host)
    }
    assert used == {path.stem for path in answers.SOURCES.glob("*.c")}


@pytest.mark.parametrize("group", answers.GROUPS, ids=lambda group: group.name)
def test_answers_are_described_by_their_programs(group: answers.Group) -> None:
    """The first comment of each program lists its answers."""
    programs = {command.split()[0] for command in group.commands(FOUR_NODE)}
    text = "".join((answers.SOURCES / f"{name}.c").read_text() for name in programs)
    listed = set(re.findall(r"\b(?:TIER|tlb|cores|disk|sockets)\.[\w.]+", text.partition("*/")[0]))
    for answer in group.answers:
        name = re.sub(r"\.\d+$", "", re.sub(r"\b(fast|slow)\.", "TIER.", answer.name))
        assert any(name == re.sub(r"\.(N|PERCENT)$", "", each) for each in listed), answer.name


def test_groups_are_chosen_by_name() -> None:
    assert answers.choose(()) == list(answers.GROUPS)
    assert [group.name for group in answers.choose(("disk", "tlb"))] == ["tlb", "disk"]
    with pytest.raises(UsageError, match="did you mean 'disk'"):
        answers.choose(("disks",))


def test_a_machine_with_one_core_has_no_answers_of_several() -> None:
    one = machine(cores=1)
    names = {answer.name for answer in answers.expected_answers(answers.GROUPS, one)}
    assert "fast.idle" in names and "cores.loop.one" in names
    assert not names & {"fast.loaded.50", "fast.together", "cores.loop.all", "cores.pipe"}


def test_other_groups_run_on_the_first_socket() -> None:
    commands = {group.name: group.commands(FOUR_NODE) for group in answers.GROUPS}
    assert commands["bandwidth"] == ["known_bandwidth 0 2", "known_bandwidth 2 2"]
    assert commands["overlap"] == ["known_overlap 0", "known_overlap 2"]
    assert commands["sockets"] == ["known_sockets 2 3"]


def test_a_machine_with_one_socket_has_no_answers_of_two() -> None:
    names = {answer.name for answer in answers.expected_answers(answers.GROUPS, HOST)}
    assert not any(name.startswith("sockets.") for name in names)
    assert "sockets" not in {group.name for group in answers.choose_for((), [HOST])}
    assert "sockets" in {group.name for group in answers.choose_for((), [HOST, FOUR_NODE])}
    with pytest.raises(KlocError, match="group sockets"):
        answers.choose_for(("tlb", "sockets"), [HOST])


def test_memory_of_the_other_socket_has_the_latency_of_the_link() -> None:
    values = exact(answers.GROUPS, FOUR_NODE)
    for tier in answers.TIERS:
        local, remote = (values[f"sockets.{way}.{tier}.idle"] for way in answers.WAYS)
        assert remote - local == pytest.approx(68, abs=1)
    # Each socket has its own memory, and each way of the link its own bandwidth.
    assert values["sockets.both"] == 2 * values["sockets.remote.fast.read"]
    assert values["sockets.shared"] < FOUR_NODE.fast.read_bandwidth
    assert values["sockets.remote.fast.read"] < values["sockets.local.fast.read"]


def test_independent_chases_overlap_up_to_the_lines_of_a_core() -> None:
    assert HOST.cpu.outstanding == 10
    times = [expected(f"fast.chases.{count}") for count in (1, 2, 4, 8, 16)]
    assert times == pytest.approx([80, 40, 20, 10, 8])


def test_latency_under_load_is_for_the_traffic_that_was_reached() -> None:
    values = exact(answers.GROUPS, HOST)
    (answer,) = (
        one
        for one in answers.expected_answers(answers.GROUPS, HOST)
        if one.name == "fast.loaded.96"
    )
    assert answer.expected is not None
    full = answer.expected(HOST, values)
    assert full > answer.expected(HOST, {**values, "fast.traffic.96": 8}) == pytest.approx(80)


@pytest.mark.parametrize("name", profile.names())
def test_each_profile_has_an_expectation_for_each_answer(name: str) -> None:
    host = profile.read(name)
    values = exact(answers.GROUPS, host)
    assert all(value > 0 for value in values.values())
