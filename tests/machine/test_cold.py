# SPDX-License-Identifier: GPL-2.0
"""`kloc cold` on the machine's kernel: idle memory is told from memory in use, by page size.

The script is the setup, which is not measured, because measuring takes longer. It prints its
results in parts: the line "== NAME" comes before each part.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.in_machine import run_script

pytestmark = pytest.mark.machine

MIB = 1 << 20

HOT, IDLE, HUGE = 8, 32, 16
"""MiB that the process uses all the time; that it has written once; the same in huge pages."""

SCRIPT = rf"""
exec >/run/printed
part() {{ echo "== $1"; }}
damon=/sys/kernel/mm/damon/admin/kdamonds
untouched() {{
    find $damon -type f | sort; cat $damon/nr_kdamonds
    mountpoint /sys/kernel/tracing || true
}}
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
cat >/run/work.py <<'end'
import mmap, time
def filled(mib, huge=False):
    memory = mmap.mmap(-1, (mib + 2 * huge) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
    for page in range(0, len(memory), 4096):
        memory[page] = 1
    return memory
hot, idle, huge = filled({HOT}), filled({IDLE}), filled({HUGE}, True)
open("/run/ready", "w").close()
while True:
    for page in range(0, len(hot), 4096):
        hot[page] = 1
    time.sleep(0.05)
end
mkdir /sys/fs/cgroup/cold
(echo 0 >/sys/fs/cgroup/cold/cgroup.procs; exec python3 /run/work.py) &
work=$!
while [ ! -e /run/ready ]; do sleep 0.1; done
# Settings of somebody who does not use them at present.
echo 1 >$damon/nr_kdamonds; echo 1 >$damon/0/contexts/nr_contexts
part before; untouched
# Each interval is parsed in Python, which takes most of the test's time.
cold="kloc cold --sampling 100ms --aggregation 500ms --regions 100-200"
part process; $cold --pid $work --for 15s --json - 2>/run/said
part said; cat /run/said
part after; untouched
# A shell lets what it starts in the background ignore SIGINT.
part cgroup
env --default-signal=INT $cold --cgroup /cold --json - 2>/run/said & sleep 2.5
kill -INT $!; wait $!
part afterwards; untouched
part all; $cold --all --for 10s 2>/run/said
part user
export KLOC_CACHE=/tmp/cache
setpriv --reuid 1000 --clear-groups kloc cold --pid $work 2>&1 || echo refused
part end; untouched; kill $work; part summary
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SCRIPT printed, by name."""
    directory = tmp_path_factory.mktemp("cold")
    text = run_script(directory, "stock", SCRIPT, "cat /run/printed", "--with-kloc")
    split = re.split(r"^== (\w+)\n", text, flags=re.M)
    return dict(zip(split[1::2], split[2::2], strict=True))


def rows(text: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the rows of a document by kind and page size in bytes."""
    return {(row["kind"], row["page_bytes"]): row for row in json.loads(text)["memory"]}


def test_idle_memory_is_told_from_memory_in_use_by_page_size(printed: dict[str, str]) -> None:
    found = rows(printed["process"])
    small, huge = found["anonymous", 4096], found["anonymous", 2 * MIB]
    # Python has some memory of its own, of which it uses a part.
    assert HOT + IDLE <= small["bytes"] / MIB <= HOT + IDLE + 16
    assert 0.8 * IDLE <= small["idle_bytes"]["10"] / MIB <= IDLE + 12
    assert HUGE <= huge["bytes"] / MIB <= HUGE + 2
    assert huge["idle_bytes"]["10"] >= 0.8 * HUGE * MIB
    assert found["file", 4096]["bytes"] > 0


def test_thresholds_that_were_not_observed_have_no_figure(printed: dict[str, str]) -> None:
    assert {row["idle_bytes"]["30"] for row in rows(printed["process"]).values()} == {None}
    assert "too short to tell what was not accessed for 30s and 2m" in printed["said"]


def test_a_cgroup_is_observed_until_an_interrupt(printed: dict[str, str]) -> None:
    content = json.loads(printed["cgroup"])
    assert content["title"] == "cgroup /cold" and 0 < content["seconds"] < 10
    assert content["all"]["bytes"] >= (HOT + IDLE + HUGE) * MIB


def test_all_memory_has_its_kinds(printed: dict[str, str]) -> None:
    assert "all processes and the page cache, observed for" in printed["all"]
    assert re.search(r"^ *anonymous +2 MiB", printed["all"], re.M)
    assert re.search(r"^ *file +4 KiB", printed["all"], re.M)


def test_damon_is_as_it_was_before(printed: dict[str, str]) -> None:
    assert "is not a mountpoint" in printed["before"]
    assert printed["before"] == printed["after"] == printed["afterwards"] == printed["end"]


def test_other_users_are_refused(printed: dict[str, str]) -> None:
    assert "only root may change the settings of DAMON" in printed["user"]
    assert printed["user"].endswith("refused\n")
