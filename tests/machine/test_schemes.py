# SPDX-License-Identifier: GPL-2.0
"""`kloc scheme` on the machine's kernel: a scheme reclaims idle memory, and leaves DAMON as it was.

The script is the setup, which is not measured, because measuring takes longer. It prints its
results in parts: the line "== NAME" comes before each part.
"""

from __future__ import annotations

import json
import re

import pytest

from support.in_machine import run_script

pytestmark = pytest.mark.machine

IDLE_MIB = 48

# The process writes to all of its memory once, then only to the first page. It takes an age before
# its memory is reclaimed: an age shorter than the test, so that the guest's clock decides little.
SCRIPT = rf"""
exec >/run/printed
part() {{ echo "== $1"; }}
damon=/sys/kernel/mm/damon/admin/kdamonds
files() {{ find $damon -type f | sort; cat $damon/nr_kdamonds; }}
memory() {{ awk '/^VmRSS/ {{print $2}}' /proc/$idle/status; }}
truncate -s 100M /data/swap; chmod 600 /data/swap
dd if=/dev/zero of=/data/swap bs=1M count=100 status=none
mkswap -q /data/swap; swapon /data/swap
python3 -c '
import time
memory = bytearray(b"x" * ({IDLE_MIB} << 20))
open("/run/ready", "w").close()
while True:
    memory[0] = 1
    time.sleep(0.01)
' &
idle=$!
while [ ! -e /run/ready ]; do sleep 0.1; done
cat >/run/quick.scheme <<'end'
4K max  min min  500ms{{100ms..1s}} max  page_out
end
part check; kloc scheme check /run/quick.scheme
# Settings of somebody who does not use them at present.
echo 1 >$damon/nr_kdamonds; echo 1 >$damon/0/contexts/nr_contexts
echo 7000 >$damon/0/contexts/0/monitoring_attrs/intervals/sample_us
part before; memory; files
part applied; kloc scheme apply /run/quick.scheme --pid $idle --for 6s --json 2>/run/said
part after; memory; files
part sample_us; cat $damon/0/contexts/0/monitoring_attrs/intervals/sample_us
part kept; kloc scheme apply prcl --pid $idle 2>&1; kloc scheme show
part again; kloc scheme apply prcl --pid $idle 2>&1 || true
part stop; kloc scheme stop 2>&1; cat $damon/0/state
part ended; kloc scheme apply prcl --pid 99999 2>&1 || true; cat $damon/0/state
echo paddr >$damon/0/contexts/0/operations; echo 1 >$damon/0/contexts/0/targets/nr_targets
echo 1 >$damon/0/contexts/0/targets/0/regions/nr_regions
echo 4294967296 >$damon/0/contexts/0/targets/0/regions/0/end
echo on >$damon/0/state
part others; kloc scheme apply prcl --pid $idle 2>&1 || true; kloc scheme stop 2>&1 || true
cat $damon/0/state
echo off >$damon/0/state
part module; echo Y >/sys/module/damon_reclaim/parameters/enabled
kloc scheme apply prcl --pid $idle 2>&1 || true
echo N >/sys/module/damon_reclaim/parameters/enabled
part physical; kloc scheme apply /run/quick.scheme --physical --for 1s --json 2>/run/said
part end; kill $idle
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SCRIPT printed, by name."""
    directory = tmp_path_factory.mktemp("schemes")
    text = run_script(directory, "stock", SCRIPT, "cat /run/printed", "--with-kloc")
    split = re.split(r"^== (\w+)\n", text, flags=re.M)
    return dict(zip(split[1::2], split[2::2], strict=True))


def test_a_scheme_reclaims_idle_memory_and_settings_are_restored(printed: dict[str, str]) -> None:
    assert printed["check"] == "/run/quick.scheme: 1 correct\n"
    before, *files_before = printed["before"].splitlines()
    after, *files_after = printed["after"].splitlines()
    assert int(before) - int(after) > IDLE_MIB * 1024 * 0.8
    assert files_before == files_after
    assert printed["sample_us"] == "7000\n"
    (kdamond,) = json.loads(printed["applied"])
    # The kernel counts a region as applied only if it has no gap without memory.
    assert kdamond["stats"][0]["tried_bytes"] > IDLE_MIB << 20


def test_a_scheme_that_is_left_applied_can_be_shown_and_stopped(printed: dict[str, str]) -> None:
    assert "kloc scheme stop ends it" in printed["kept"]
    assert "kdamond 0 runs on process" in printed["kept"]
    assert "started by kloc" in printed["kept"]
    assert "kloc already applies a scheme" in printed["again"]
    assert printed["stop"].splitlines()[-1] == "off"


def test_kdamonds_of_others_and_wrong_targets_are_errors(printed: dict[str, str]) -> None:
    assert "process 99999" in printed["ended"] and printed["ended"].endswith("off\n")
    assert printed["others"].count("kloc did not start it") == 2
    assert printed["others"].endswith("on\n")
    assert "damon_reclaim" in printed["module"] and "echo N" in printed["module"]
    assert json.loads(printed["physical"])[0]["operations"] == "paddr"
