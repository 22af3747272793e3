# SPDX-License-Identifier: GPL-2.0
"""The recording around a workload's scripts, and the record in what the guest prints."""

from __future__ import annotations

import base64
import gzip
import re
import subprocess
from array import array
from collections.abc import Mapping
from dataclasses import replace

import pytest

from kloc.base.errors import KlocError
from kloc.heat import kinds
from kloc.heat.records import Record
from kloc.machine import profile
from kloc.measure import heat_map
from kloc.measure.heat_map import ATTRIBUTES
from kloc.measure.workload import FULL, Outcome, Size, Workload
from kloc.schemes.sysfs import Attributes
from support.fake_tracing import lines

HOST = profile.read(profile.DEFAULT)

ONE, TWO = [(0x400000, 0x800000, 3)], [(0x10000, 0x20000, 20)]


def outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    return Outcome(int(printed["check"]), None)


WORKLOAD = Workload(
    name="made-up",
    summary="",
    packages=(),
    setup=lambda size, seed: "echo 'setup'\nexit 0\n",
    measured=lambda size, seed: f"echo measured {seed}\n",
    check=lambda size, seed: "echo 7\n",
    outcome=outcome,
    warm_up=lambda size, seed: "echo slice\n",
)


def mark(time: float, text: str) -> str:
    return f"   sh-99    [004] ..... {time:13.6f}: tracing_mark_write: kloc {text}\n"


def printed(*parts: str) -> str:
    """Return what the guest prints after BEGIN."""
    return base64.encodebytes(gzip.compress("".join(parts).encode())).decode()


def record(text: str | None, physical: bool = False) -> Record:
    return heat_map.record(text, "made-up", "6.12.0", HOST, ATTRIBUTES, physical)


@pytest.mark.parametrize("physical", [False, True])
def test_all_scripts_are_correct_shell(physical: bool) -> None:
    changed, _ = heat_map.recorded(WORKLOAD, HOST, ATTRIBUTES, physical)
    assert changed.check is not None
    for make in (changed.setup, changed.measured, changed.check):
        script = make(FULL, 3)
        assert not re.search(r"\{\w+\}", script)
        done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_the_workloads_scripts_run_in_shells_of_their_own() -> None:
    # "exit 0" must not end what comes after it.
    changed, _ = heat_map.recorded(WORKLOAD, HOST, ATTRIBUTES, True)
    assert changed.setup(FULL, 1).startswith("sh -e -c 'echo '\"'\"'setup'\"'\"'\nexit 0\n'\n")
    assert "'echo measured 3\n'" in changed.measured(FULL, 3)
    assert changed.warm_up is WORKLOAD.warm_up


def test_a_default_warm_up_has_no_recording() -> None:
    plain = replace(WORKLOAD, warm_up=None)
    changed, _ = heat_map.recorded(plain, HOST, ATTRIBUTES, True)
    assert changed.slices(FULL, 1) == plain.slices(FULL, 1)
    once = replace(plain, repeatable=False)
    assert heat_map.recorded(once, HOST, ATTRIBUTES, True)[0].slices(FULL, 1) is None


def test_monitoring_is_as_asked_for_and_on_the_last_core() -> None:
    attributes = Attributes(2_000, 30_000, 400_000, 5, 50)
    changed, _ = heat_map.recorded(WORKLOAD, HOST, attributes, True)
    script = changed.setup(FULL, 1)
    for written in ("echo 2000 >", "echo 30000 >", "echo 400000 >", "echo paddr >"):
        assert written in script
    assert f"taskset -pc {HOST.cores + HOST.spare_cores - 1}" in script
    # The ends of regions are those of the tiers.
    assert f"echo {HOST.fast.capacity + (16 << 20)} >" in script


def test_the_workload_gets_its_own_output() -> None:
    changed, found = heat_map.recorded(WORKLOAD, HOST, ATTRIBUTES, True)
    assert changed.outcome({"check": f"7\n{heat_map.BEGIN}abc"}, FULL).operations == 7
    assert found.text == "abc"


def test_processes_and_marks_are_read() -> None:
    found = record(
        printed(
            mark(10.0, "start"),
            mark(10.1, "process 5 redis-server"),
            mark(10.1, "targets 5"),
            lines(10.2, ONE),
            mark(10.3, "process 5 redis-server"),
            mark(10.3, "process 9 a b"),
            mark(10.3, "targets 9 5"),
            mark(10.4, "measured"),
            lines(10.5, TWO, target=0),
            lines(10.5, ONE, target=1),
            mark(11.0, "end"),
            "maps 5 00400000-00800000 rw-p 00000000 00:00 0\n",
            "maps 5 00800000-00900000 rw-p 00000000 00:00 0\n",
            "maps 5 10000000-90000000 ---p 00000000 00:00 0\n",
        )
    )
    assert [(one.pid, one.name) for one in found.processes] == [(5, "redis-server"), (9, "a b")]
    assert found.processes[0].mapped == ((0x400000, 0x900000),)
    assert [(one.time, one.process) for one in found.snapshots] == [(0.2, 0), (0.5, 1), (0.5, 0)]
    assert (found.seconds, found.marks[0].time, found.marks[0].name) == (
        1.0,
        0.4,
        heat_map.MEASURED_NAME,
    )
    assert found.lost == 0


def test_what_keeps_the_number_of_an_ended_process_is_not_in_the_map() -> None:
    found = record(
        printed(
            mark(10.0, "start"),
            mark(10.1, "process 5 redis-server"),
            mark(10.1, "process 9 redis-server"),
            mark(10.1, "targets 5 9"),
            lines(10.2, ONE, target=0),
            mark(10.3, "process 9 redis-server"),
            mark(10.3, "targets 77 9"),
            mark(10.4, "measured"),
            lines(10.5, ONE, target=0),
            lines(10.5, TWO, target=1),
            mark(11.0, "end"),
        )
    )
    assert [one.pid for one in found.processes] == [5, 9]
    assert [(one.time, one.process) for one in found.snapshots] == [(0.2, 0), (0.5, 1)]


def test_physical_memory_has_the_machines_tiers() -> None:
    text = printed(mark(1.0, "start"), mark(1.0, "measured"), lines(1.5, ONE), mark(2.0, "end"))
    found = record(text, physical=True)
    assert found.physical
    assert [(one.node, one.tier) for one in found.memory] == [(0, "fast"), (1, "slow")]
    assert found.memory[1].end - found.memory[1].start == HOST.slow.capacity


def test_frames_are_read_before_the_workloads_processes_end_and_for_physical_memory_only() -> None:
    scripts = {
        physical: heat_map.recorded(WORKLOAD, HOST, ATTRIBUTES, physical)[0]
        for physical in (False, True)
    }
    script = str(scripts[True].check and scripts[True].check(FULL, 1))
    assert script.index(f"cat {kinds.FLAGS}") < script.index("echo 7") < script.index("base64")
    assert kinds.FLAGS not in scripts[True].measured(FULL, 1)
    assert f"cat {kinds.FLAGS}" not in str(scripts[False].check and scripts[False].check(FULL, 1))


def test_physical_memory_has_the_kinds_of_the_guests_pages() -> None:
    ends = (mark(1.0, "start"), mark(1.0, "measured"), lines(1.5, ONE), mark(2.0, "end"))
    flags = array("Q", [1 << 12] * 300 + [1 << 7] * 200).tobytes()
    frames = base64.b64encode(gzip.compress(flags)).decode()
    found = record(printed(*ends, f"frames {frames}\n"), physical=True)
    (one,) = found.kinds
    assert one.start == 0 and one.pages == {"anonymous": 300, "slab": 200}
    # A kernel without CONFIG_PROC_PAGE_MONITOR.
    assert record(printed(*ends), physical=True).kinds == ()


def test_a_full_buffer_is_told() -> None:
    marks = (mark(1.0, "start"), mark(1.0, "measured"), mark(2.0, "end"))
    assert record(printed("# overrun 0\n", *marks, lines(1.5, ONE)), physical=True).lost == 0
    assert record(printed("# overrun 12\n", *marks, lines(1.5, ONE)), physical=True).lost == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "printed no heat map"),
        ("nonsense", "printed no heat map"),
        (printed(mark(1.0, "start"), mark(2.0, "end")), "DAMON saw nothing of made-up"),
    ],
)
def test_output_without_a_map_is_an_error(text: str | None, words: str) -> None:
    with pytest.raises(KlocError, match=words) as error:
        record(text)
    assert error.value.hint
