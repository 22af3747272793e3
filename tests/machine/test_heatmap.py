# SPDX-License-Identifier: GPL-2.0
"""`kloc heatmap` on the machine's kernel: memory that is used is told from memory that is not.

The script is the setup, which is not measured, because measuring takes longer. It prints its
results in parts: the line "== NAME" comes before each part.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from kloc.heat import grid, kinds, records
from kloc.heat.records import Record
from support.in_machine import run_script

pytestmark = pytest.mark.machine

MIB = 1 << 20

WHOLE, HOT_START, HOT_END = 32, 8, 16
"""MiB that the process maps, and the part of them that it writes to all the time."""

# Intervals are short, so that the test is.
SCRIPT = rf"""
exec >/run/printed
part() {{ echo "== $1"; }}
damon=/sys/kernel/mm/damon/admin/kdamonds
untouched() {{
    find $damon -type f | sort; cat $damon/nr_kdamonds
    mountpoint /sys/kernel/tracing || true
}}
# A shell lets what it starts in the background ignore SIGINT.
heatmap="env --default-signal=INT kloc heatmap --sampling 2ms --aggregation 50ms --json -"
cat >/run/work.py <<'end'
import ctypes, mmap, time
memory = mmap.mmap(-1, {WHOLE * MIB})
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for page in range(0, {WHOLE * MIB}, 4096):
    memory[page] = 1
print(address, file=open("/run/ready", "w"), flush=True)
while True:
    for page in range({HOT_START * MIB}, {HOT_END * MIB}, 4096):
        memory[page] = 1
    time.sleep(0.002)
end
python3 /run/work.py &
work=$!
while [ ! -s /run/ready ]; do sleep 0.1; done
part address; cat /run/ready
# Settings of somebody who does not use them at present.
echo 1 >$damon/nr_kdamonds; echo 1 >$damon/0/contexts/nr_contexts
part before; untouched
part process; $heatmap --pid $work --for 2s 2>/run/said
part after; untouched
part interrupted; $heatmap --pid $work --for 1h 2>/run/said & sleep 2; kill -INT $!; wait $!
part terminated; $heatmap --pid $work --for 1h 2>/run/said & sleep 2; kill -TERM $!; wait $!
part afterwards; untouched
part physical; $heatmap --physical --for 1s 2>/run/said
part command; $heatmap --update 50ms -- sh -c 'sleep 0.5; exit 3' 2>/run/said || echo "status $?"
kill $work; wait $work || true
part gone; $heatmap --pid $work --for 1s 2>/run/said || cat /run/said
part end; untouched; part summary
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SCRIPT printed, by name."""
    directory = tmp_path_factory.mktemp("heatmap")
    text = run_script(directory, "stock", SCRIPT, "cat /run/printed", "--with-kloc")
    split = re.split(r"^== (\w+)\n", text, flags=re.M)
    return dict(zip(split[1::2], split[2::2], strict=True))


def record(text: str) -> Record:
    """Return the record in a part."""
    return records.from_document(json.loads(text.splitlines()[0]), "the part")


def test_memory_in_use_is_told_from_idle_memory(printed: dict[str, str]) -> None:
    found, start = record(printed["process"]), int(printed["address"])
    assert found.lost == 0 and len(found.snapshots) > 30
    ends = (start, start + WHOLE * MIB)
    values = grid.frequencies(found, grid.regions(found), 0, ends, (WHOLE, 4))
    # DAMON needs some intervals to find the ends of regions.
    last = values[:, -1]
    hot = np.zeros(WHOLE, dtype=bool)
    hot[HOT_START:HOT_END] = True
    assert last[hot].min() > 0.25
    assert np.median(last[~hot]) < 0.02
    assert any(
        low <= start and start + WHOLE * MIB <= high for low, high in found.processes[0].mapped
    )


def test_everything_is_as_it_was_before(printed: dict[str, str]) -> None:
    assert "is not a mountpoint" in printed["before"]
    assert printed["before"] == printed["after"] == printed["afterwards"] == printed["end"]


def test_an_interrupt_ends_the_recording(printed: dict[str, str]) -> None:
    for name in ("interrupted", "terminated"):
        assert record(printed[name]).snapshots


def test_physical_memory_has_both_tiers_and_kinds_of_pages(printed: dict[str, str]) -> None:
    found = record(printed["physical"])
    assert {(one.node, one.tier) for one in found.memory} == {(0, "fast"), (1, "slow")}
    sizes = {one.node: one.end - one.start for one in found.memory}
    assert sizes == pytest.approx({0: 192 * MIB, 1: 1280 * MIB}, rel=0.01)
    assert {"anonymous", "file", "slab", "free"} <= kinds.shares(found.kinds).keys()
    regions = [region for one in found.snapshots for region in one.regions]
    assert any(accesses for _, _, accesses in regions)


def test_a_command_is_recorded_and_has_its_status(printed: dict[str, str]) -> None:
    assert {one.name for one in record(printed["command"]).processes} >= {"sh", "sleep"}
    assert printed["command"].endswith("status 3\n")


def test_a_process_that_is_gone_is_an_error(printed: dict[str, str]) -> None:
    assert "DAMON refused to monitor process" in printed["gone"]
