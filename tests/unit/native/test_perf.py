# SPDX-License-Identifier: GPL-2.0
"""perf: its output, and that it counts between two commands only, with a made-up perf."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kloc.base.paths import PROJECT
from kloc.native import perf

# As perf stat -x ';' of Linux 6.12 prints it, with and without cgroups.
PRINTED = """\
# started on Mon Jan  1 00:00:00 2026

123456;;cycles;1000;100.00;1.5;GHz
<not supported>;;instructions;0;100.00;;
<not counted>;;cache-misses;0;0.00;;
789;;page-faults:u;1000;100.00;;
55;;dTLB-load-misses;kloc-native;1000;75.00;;
"""

MADE_UP = """\
#!/usr/bin/env python3
import os, signal, sys
arguments = sys.argv[1:]
open(os.path.join(os.path.dirname(sys.argv[0]), "arguments"), "w").write(" ".join(arguments))
file = arguments[arguments.index("-o") + 1]
control, ack = map(int, arguments[arguments.index("--control") + 1][3:].split(","))
told = []
def end(*_):
    open(file, "w").write(f"{len(told)};;cycles;1;100.00;;\\n")
    sys.exit()
signal.signal(signal.SIGINT, end)
while command := os.read(control, 100):
    told.append(command)
    os.write(ack, b"ack\\n\\0")
signal.pause()
"""


def test_counts_are_read_and_others_left_out() -> None:
    assert perf.parse(PRINTED) == {"cycles": 123456, "page-faults": 789, "dTLB-load-misses": 55}


def test_without_perf_nothing_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with perf.counting(tmp_path / "out", None) as counts:
        pass
    assert counts == {}


@pytest.mark.parametrize("group", [None, "kloc-native"])
def test_perf_is_told_when_to_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, group: str | None
) -> None:
    program = tmp_path / "perf"
    program.write_text(MADE_UP)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with perf.counting(tmp_path / "out", group) as counts:
        assert counts == {}
    assert counts == {"cycles": 2}
    arguments = (tmp_path / "arguments").read_text().split()
    assert ("-G" in arguments) == (group is not None)
    assert "-D" in arguments


def test_a_perf_that_may_not_count_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "perf"
    program.write_text("#!/bin/sh\nexit 255\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with perf.counting(tmp_path / "out", None) as counts:
        pass
    assert counts == {}


def test_perf_ends_with_a_kloc_that_is_killed(tmp_path: Path) -> None:
    program, code = tmp_path / "perf", tmp_path / "code"
    program.write_text(MADE_UP)
    program.chmod(0o755)
    code.write_text(
        "import os, sys\n"
        "from pathlib import Path\n"
        "from kloc.native import perf\n"
        f"with perf.counting(Path('{tmp_path}/out'), None):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(PROJECT / "src")}
    assert subprocess.run([sys.executable, code], env=environment).returncode == -9
    until = time.monotonic() + 900
    while any(is_perf(path, program) for path in Path("/proc").glob("[0-9]*/cmdline")):
        assert time.monotonic() < until
        time.sleep(0.02)


def is_perf(path: Path, program: Path) -> bool:
    try:
        return str(program).encode() in path.read_bytes().split(b"\0")
    except OSError:
        return False
