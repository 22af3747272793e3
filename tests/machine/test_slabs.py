# SPDX-License-Identifier: GPL-2.0
"""Relocatable slabs in the machine: under kloc-slab they move, and `kloc status` shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.in_machine import SCARCE, kloc_run, read_run, run_script

pytestmark = pytest.mark.machine

# Makes files that nobody uses afterwards, and lets some scans pass.
FILES = """
echo 20000 >/sys/kernel/mm/tiering/scan_us
mkdir /data/files
for i in $(seq 2000); do echo $i >/data/files/$i; done
sync
sleep 0.6
kloc status --json -
"""


def status(directory: Path, policy: str) -> dict[str, Any]:
    """Return what `kloc status` wrote in the machine."""
    printed = run_script(directory, policy, SCARCE, FILES, "--with-kloc")
    found, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    assert isinstance(found, dict)
    return found


def test_slabs_that_nobody_uses_are_demoted_and_counted_by_cache(tmp_path: Path) -> None:
    slabs = status(tmp_path, "kloc-slab")["slabs"]
    assert {"dentry", "ext4_inode_cache"} <= set(slabs)
    inodes = slabs["ext4_inode_cache"]
    assert inodes["demoted"] > 100
    assert inodes["slow"] > 0.5 * (inodes["demoted"] - inodes["promoted"])
    # What left with its context may have been used in the last eight scans.
    assert 0 < inodes["slow_unused"] <= inodes["slow"]


def test_slabs_stay_where_they_are_under_kloc_cache_only(tmp_path: Path) -> None:
    slabs = status(tmp_path, "kloc-cache-only")["slabs"]
    assert slabs["ext4_inode_cache"]["demoted"] == 0
    assert slabs["ext4_inode_cache"]["fast"] > 100
    # Nobody looks.
    assert slabs["ext4_inode_cache"]["fast_unused"] == 0


def test_without_the_parameter_no_slab_can_move(tmp_path: Path) -> None:
    assert status(tmp_path, "kloc")["slabs"] == {}


def test_pages_of_relocatable_slabs_are_of_the_kind_of_their_cache(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    make = "mkdir /data/files; for i in $(seq 1000); do echo $i >/data/files/$i; done"
    kloc_run("--policy", "kloc-slab", "--json", result, "--", "sh", "-ec", make)
    fast = read_run(result)["series"]["pages_fast"]
    # An inode takes about 1,100 bytes, with the rest of its slab.
    assert fast["slab:ext4_inode_cache"][-1] > 250
    assert fast["slab:dentry"][-1] > 40


# Makes 400 connections on loopback. With `used`, each is used all the time, else none is.
CONNECTIONS = """
echo 20000 >/sys/kernel/mm/tiering/scan_us
ulimit -n 2000
perl -MIO::Socket::INET -e '
    my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 7000, Listen => 99)
        or die "$!";
    my @pairs;
    for (1 .. 400) {
        my $one = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 7000) or die "$!";
        push @pairs, [$one, $server->accept];
    }
    while (1) {
        select undef, undef, undef, $ARGV[0] ? 0.001 : 1;
        next unless $ARGV[0];
        for (@pairs) { syswrite $_->[0], "x"; sysread $_->[1], my $byte, 1 }
    }' %d &
sleep 1
kloc status --json -
"""


def connected(directory: Path, used: bool) -> dict[str, int]:
    """Return what `kloc status` says of the slabs of TCP sockets."""
    printed = run_script(directory, "kloc-slab", SCARCE, CONNECTIONS % used, "--with-kloc")
    found, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    tcp: dict[str, int] = found["slabs"]["TCP"]
    return tcp


def test_idle_sockets_leave_fast_memory(tmp_path: Path) -> None:
    idle = connected(tmp_path, used=False)
    # 13 of 800 sockets share 8 pages.
    assert idle["slow"] > 250
    assert idle["demoted"] - idle["promoted"] >= idle["slow"]


def test_sockets_in_use_stay_in_fast_memory(tmp_path: Path) -> None:
    used = connected(tmp_path, used=True)
    assert used["fast"] > 400
    assert used["slow"] < 50
