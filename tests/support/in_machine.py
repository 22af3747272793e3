# SPDX-License-Identifier: GPL-2.0
"""Runs programs and scripts in the two-tier machine with `./kloc run`, for tests."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from kloc.base.paths import PROJECT

SOURCES = PROJECT / "tests/plugin"
"""The directory of the test programs, whose memory accesses are known."""

MIB_OF_PAGES = 256
"""Pages in a MiB."""

TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing"
"""A shell command that mounts tracefs; a script runs it before it traces anything."""

SELECT = "echo {} >/sys/kernel/mm/tiering/policy"
"""A shell command that selects a policy of the kernel, with its name inserted."""

OFF, ON = SELECT.format("none"), SELECT.format("kloc")
"""Shell commands that forget all contexts, and that give files contexts from now on."""

COUNTS = (
    "(cd /sys/kernel/mm/tiering/stats && grep . */* ../../kloc/knodes | sed 's,^[./]*,,; s,:, ,')"
)
"""A shell command that prints the counts of the kernel's policy, for `parse_counts`.

Their names are KIND/COUNT, such as file/demoted_inactive, and kloc/knodes.
"""

SCARCE = """
awk '/^Node/ {node = $2 $4} node !~ /^0,/ || node == "0,DMA" {next}
    $1 == "managed" {all += $2} $1 == "min" {least += $2}
    $1 == "pages" && $2 == "free" {free += $3}
    END {scale = int((free - 2000 - least) * 10000 / (3 * all))
        print (scale < 10 ? 10 : scale > 3000 ? 3000 : scale)}' /proc/zoneinfo \\
    >/proc/sys/vm/watermark_scale_factor
"""
"""Shell commands that raise kswapd's mark on fast memory to nearly what is free.

The mark is the one for NUMA balancing between tiers, min and three times the scale. So page cache
that is not in use is demoted at once, and few files are enough to see it.
"""

FAST_PAGES = """
fast_pages() {
    perl -e '
        $pages = 0;
        for $file (@ARGV) {
            open($in, "<", $file) or die "$file: $!";
            $map = syscall(9, 0, -s $in, 1, 1 | 0x8000, fileno $in, 0);
            open($maps, "<", "/proc/self/numa_maps") or die "$!";
            while (<$maps>) { $pages += $1 if /^0*@{[sprintf "%x", $map]} .* N0=(\\d+)/; }
            syscall(11, $map, -s $in);
        }
        print "$pages\\n"' "$@"
}
"""
"""A shell function: `fast_pages FILE...` prints how many pages of the files are on node 0.

Each file is mapped, and /proc/self/numa_maps has its pages by node.
"""


def kloc_run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `./kloc run` with `arguments`, and assert that it exits with `status`."""
    process = subprocess.run(
        [PROJECT / "kloc", "run", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert process.returncode == status, process.stdout + process.stderr
    return process


def run_script(directory: Path, policy: str, setup: str, command: str, *options: object) -> str:
    """Run the script `setup`, then `command`, under a policy, and return the output of `command`.

    `directory` is on the host and gets the script. `options` are further options of `kloc run`.
    """
    script = directory / "setup"
    script.write_text(setup)
    arguments = ["--policy", policy, "--setup", script, *options]
    return kloc_run(*arguments, "--", "sh", "-ec", command).stdout


def split_parts(printed: str) -> dict[str, str]:
    """Return the parts of a script's output by name: the line "== NAME" comes before each."""
    split = re.split(r"^== (\w+)\n", printed, flags=re.M)
    return dict(zip(split[1::2], split[2::2], strict=True))


def parse_counts(printed: str) -> dict[str, int]:
    """Return the numbers in lines of the form "NAME NUMBER" by name, and ignore other lines."""
    pairs = (line.split() for line in printed.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def read_run(path: Path) -> dict[str, Any]:
    """Return the run in a result file that has only one."""
    (run,) = json.loads(path.read_text())["runs"]
    assert isinstance(run, dict)
    return run
