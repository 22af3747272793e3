# SPDX-License-Identifier: GPL-2.0
"""Machine profiles: possible machines are read and varied, impossible ones are refused."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile

TIERED = (profile.PROFILES / "tiered.toml").read_text()


def changed(tmp_path: Path, old: str, new: str) -> str:
    assert old in TIERED
    path = tmp_path / "changed.toml"
    path.write_text(TIERED.replace(old, new, 1))
    return str(path)


@pytest.mark.parametrize("name", profile.names())
def test_every_profile_loads(name: str) -> None:
    assert profile.load(name).name == name


def test_default_slow_memory_has_an_eighth_of_the_bandwidth_and_three_times_the_latency() -> None:
    tiered = profile.load("tiered")
    assert tiered.slow.read_bandwidth * 8 == tiered.fast.read_bandwidth
    assert tiered.slow.read_latency_ns == 3 * tiered.fast.read_latency_ns


def test_the_papers_machine_has_equal_latencies() -> None:
    paper = profile.load("kloc-two-tier")
    assert paper.slow.read_latency_ns == paper.fast.read_latency_ns
    assert paper.slow.read_bandwidth * 8 == paper.fast.read_bandwidth


@pytest.mark.parametrize("name", profile.names())
def test_figures_keep_their_type_in_result_files(name: str) -> None:
    figures = profile.read(name).as_dict()
    # Result files of machines with one socket are those of versions that knew no other.
    assert ("remote" in figures) == (figures["sockets"] == 2)
    assert [key for key in figures if key != "remote"] == [
        "name",
        "summary",
        "cores",
        "spare_cores",
        "quantum_us",
        "scale",
        "cpu",
        "tlb",
        "fast",
        "slow",
        "storage",
        "sockets",
        "variant",
    ]
    # The files write some of these numbers without a fraction, and sizes with a unit.
    assert type(figures["scale"]) is float
    assert type(figures["fast"]["read_latency_ns"]) is float
    assert type(figures["fast"]["capacity"]) is int
    assert json.loads(json.dumps(figures)) == figures


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("read_latency_ns = 80", "read_latency_ns = -1", ["fast.read_latency_ns", "-1"]),
        ("read_latency_ns = 80", "read_latency_ns = nan", ["fast.read_latency_ns", "nan"]),
        ('capacity = "192 MiB"', 'capacity = "4096 GiB"', ["at most"]),
        ('capacity = "192 MiB"', 'capacity = "16 MiB"', ["fast.capacity", "96 MiB"]),
        ('capacity = "192 MiB"', 'capacity = "193 MiB"', ["fast.capacity", "2 MiB"]),
        ("cores = 4", "cores = 0", ["cores is 0", "1 core or more"]),
        ("cores = 4", "cores = 8", ["9 together", "8 at most"]),
        ("spare_cores = 1", "spare_cores = -1", ["spare_cores -1"]),
        ("quantum_us = 2", "quantum_us = 200", ["quantum_us", "100"]),
        ("ns_per_instruction = 0.25", "ns_per_instruction = 0.0001", ["whole number of ps"]),
        ("outstanding = 10", "outstanding = 33", ["cpu.outstanding", "32"]),
        ("ways = 4\nhuge", "ways = 3\nhuge", ["tlb.entries", "power of two"]),
        ("[[0, 1.0], [0.75, 1.48]", "[[0.1, 1.0], [0.75, 1.48]", ["fast.loaded", "first"]),
        ("[0.75, 1.48], [0.94, 1.98]", "[0.95, 1.48], [0.94, 1.98]", ["fast.loaded", "rise"]),
        ("scale = 42.7", "scale = 0.5", ["scale", "1 or more"]),
        ("scale = 42.7", "scale = 42.7\nsockets = 3", ["sockets is 3", "1 and 2"]),
        ("scale = 42.7", "scale = 42.7\nsockets = 0", ["sockets is 0"]),
        ("scale = 42.7", "scale = 42.7\nsockets = 2", ["cores is 4", "spare_cores 1", "2 sockets"]),
        ("spare_cores = 1", "spare_cores = 0\nsockets = 2", ["[remote] is missing"]),
        (
            "[storage]",
            "[remote]\nlatency_ns = 68\nbandwidth = 35\nloaded = [[0, 1]]\n[storage]",
            ["one socket", "sockets = 2"],
        ),
        ('llc = "608 KiB"', 'llc = "3 MiB"', ["cpu.llc", "power of two"]),
        ("unit = 64", "unit = 100", ["fast.unit", "64 to 4096"]),
    ],
)
def test_an_impossible_machine_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    with pytest.raises(KlocError) as refused:
        profile.load(changed(tmp_path, old, new))
    for word in ("machine changed", *words):
        assert word in refused.value.message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("read_latency_ns = 80", 'read_latency_ns = "x"', ["fast.read_latency_ns", "a number"]),
        ("read_latency_ns = 80", "read_latancy_ns = 80", ["'fast.read_latency_ns'"]),
        ("read_latency_ns = 80\n", "", ["fast.read_latency_ns is missing"]),
        ('capacity = "192 MiB"', 'capacity = "a lot"', ["fast.capacity", "not a size"]),
        ('capacity = "192 MiB"', "capacity = true", ["fast.capacity", "not a size"]),
        ("cores = 4", "cores = true", ["cores", "a whole number"]),
        ("cores = 4", 'cores = 4\nvariant = "fast x 2"', ["'variant'"]),
        ("[cpu]", "[gpu]", ["'gpu'", "'cpu'"]),
        ("cores = 4", "cores =", ["not TOML"]),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_key(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    path = changed(tmp_path, old, new)
    with pytest.raises(KlocError) as refused:
        profile.load(path)
    for word in (path, *words):
        assert word in refused.value.message
    assert refused.value.hint


def changed_sockets(tmp_path: Path, old: str, new: str) -> str:
    four = (profile.PROFILES / "four-node.toml").read_text()
    assert old in four
    path = tmp_path / "changed.toml"
    path.write_text(four.replace(old, new, 1))
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cores = 4", "cores = 3", ["cores is 3", "same number"]),
        ("spare_cores = 2", "spare_cores = 3", ["spare_cores 3", "same number"]),
        ("latency_ns = 68", "latency_ns = 0", ["remote.latency_ns is 0", "positive"]),
        ("bandwidth = 35", "bandwidth = 0.0001", ["remote.bandwidth", "0.001 GB/s"]),
        ("latency_ns = 68\n", "", ["remote.latency_ns is missing"]),
        ("latency_ns = 68", "latancy_ns = 68", ["'remote.latency_ns'"]),
        ("[0.88, 1.53]", "[1.88, 1.53]", ["remote.loaded", "rise"]),
        ('capacity = "384 MiB"', 'capacity = "386 MiB"', ["fast.capacity", "each of 2 sockets"]),
    ],
)
def test_impossible_sockets_are_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    with pytest.raises(KlocError) as refused:
        profile.read(changed_sockets(tmp_path, old, new))
    shown = f"{refused.value.message} {refused.value.hint}"
    for word in words:
        assert word in shown


def test_each_socket_has_its_cores_and_spare_ones() -> None:
    four = profile.read("four-node")
    assert [list(four.cpus_of(socket)) for socket in (0, 1)] == [[0, 1, 2], [3, 4, 5]]
    assert four.workload_cpus() == [0, 1, 3, 4]
    assert profile.read("tiered").workload_cpus() == [0, 1, 2, 3]


def test_fast_memory_of_two_sockets_varies_by_the_same_size_on_each() -> None:
    varied = profile.read("four-node").varied(Fraction(2, 3))
    assert varied.fast.capacity == 256 << 20
    assert profile.read("four-node").varied(Fraction(101, 100)).fast.capacity == 388 << 20


def test_sizes_may_be_in_bytes_or_have_a_unit(tmp_path: Path) -> None:
    path = changed(tmp_path, 'capacity = "192 MiB"', f"capacity = {96 << 20}")
    assert profile.read(path).fast.capacity == 96 << 20
    assert profile.read(path).slow.capacity == 1280 << 20


def test_a_file_that_does_not_exist_is_named() -> None:
    with pytest.raises(KlocError, match=r"no-such-file\.toml"):
        profile.read("no-such-file.toml")


def test_more_memory_than_the_host_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    with pytest.raises(KlocError, match="this host has 1024 MiB"):
        profile.load("tiered")
    with pytest.raises(KlocError, match="this host has 1024 MiB"):
        profile.read("tiered").varied(Fraction(2))
    assert profile.read("tiered").name == "tiered"


def test_an_unknown_machine_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(KlocError) as refused:
        profile.load("teired")
    assert "'tiered'" in refused.value.message
    assert "kloc-two-tier" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("fast", "slow_bandwidth", "mib", "bandwidth", "variant"),
    [
        ("1", None, 192, 3.75, ""),
        ("1/2", None, 96, 3.75, "fast x 1/2"),
        ("4", "1/8", 768, 3.75, "fast x 4"),
        # Capacities are rounded to 2 MiB.
        ("5/7", "1/2", 138, 15.0, "fast x 5/7, slow bandwidth 1/2"),
        (None, "1/3", 192, 10.0, "slow bandwidth 1/3"),
    ],
)
def test_variations_change_capacity_and_bandwidth(
    fast: str | None, slow_bandwidth: str | None, mib: int, bandwidth: float, variant: str
) -> None:
    factors = [value and Fraction(value) for value in (fast, slow_bandwidth)]
    varied = profile.load("tiered").varied(*factors)
    assert varied.fast.capacity == mib << 20
    assert varied.slow.read_bandwidth == varied.slow.write_bandwidth == bandwidth
    assert varied.variant == varied.as_dict()["variant"] == variant
    assert varied.slow.capacity == 1280 << 20


@pytest.mark.parametrize(
    ("name", "fast", "slow_bandwidth", "reason"),
    [
        ("tiered", "1/4", None, "machine tiered, fast x 1/4 .*96 MiB"),
        ("tiered", "16", None, "at most"),
        ("kloc-two-tier", None, "1", "one tier"),
        ("tiered", None, "1/100000", r"0\.001 GB/s"),
    ],
)
def test_an_impossible_variation_is_refused(
    name: str, fast: str | None, slow_bandwidth: str | None, reason: str
) -> None:
    factors = [value and Fraction(value) for value in (fast, slow_bandwidth)]
    with pytest.raises(KlocError, match=reason):
        profile.load(name).varied(*factors)
