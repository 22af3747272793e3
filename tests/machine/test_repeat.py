# SPDX-License-Identifier: GPL-2.0
"""A repeated run writes the same result file, to the byte, whatever else the host does."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kloc.build import programs
from kloc.machine import profile
from support.in_machine import SOURCES, kloc_run, read_run

pytestmark = pytest.mark.machine

# Threads on all cores, with locks and pipes; files that are written, read through a pipe, and
# removed; and a sort that the caches do not hold.
SHARED = """
contend {cores} 300 &
head -c 8000000 /dev/urandom >/data/random
for i in 1 2 3 4; do seq $i 40000 >/data/$i; done
cat /data/? | sort -n | md5sum
sync
md5sum /data/random
rm /data/?
wait
"""


def spin() -> None:
    while True:
        pass


@contextmanager
def busy_host() -> Iterator[None]:
    """Keep every core of the host busy with two other processes."""
    count = 2 * (os.cpu_count() or 1)
    spinning = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.join()


def test_a_repeated_run_gives_the_same_bytes_while_the_host_is_busy(tmp_path: Path) -> None:
    contend = programs.build(SOURCES / "contend.c")
    cores = profile.load(profile.DEFAULT).cores
    script = SHARED.replace("contend", f"{contend}").format(cores=cores)

    def measure(result: Path) -> bytes:
        options = ["--policy", "kloc", "--copy", contend, "--json", result]
        kloc_run(*options, "--", "sh", "-ec", script)
        return result.read_bytes()

    first = measure(tmp_path / "quiet.json")
    with busy_host():
        second = measure(tmp_path / "busy.json")
    assert first == second
    # All cores took part.
    by_core = read_run(tmp_path / "quiet.json")["by_core"]
    assert all(core["user"] > 1e6 for core in by_core[:cores])
