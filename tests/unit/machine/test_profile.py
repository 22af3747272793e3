# SPDX-License-Identifier: GPL-2.0
"""Profiles that make sense are read; the others are refused with the reason."""

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


def test_the_default_has_an_eighth_of_the_bandwidth_and_three_times_the_latency() -> None:
    tiered = profile.load("tiered")
    assert tiered.slow.read_bandwidth * 8 == tiered.fast.read_bandwidth
    assert tiered.slow.read_latency_ns == 3 * tiered.fast.read_latency_ns


def test_the_papers_machine_has_equal_latencies() -> None:
    paper = profile.load("kloc-two-tier")
    assert paper.slow.read_latency_ns == paper.fast.read_latency_ns
    assert paper.slow.read_bandwidth * 8 == paper.fast.read_bandwidth


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("read_latency_ns = 80", "read_latency_ns = -1", "fast.read_latency_ns is -1"),
        ("read_latency_ns = 80", "read_latency_ns = nan", "fast.read_latency_ns is nan"),
        ("read_latency_ns = 80", 'read_latency_ns = "x"', "must be of type float"),
        ("read_latency_ns = 80", "read_latancy_ns = 80", "fast.read_latency_ns"),
        ("read_latency_ns = 80\n", "", "fast.read_latency_ns is missing"),
        ('capacity = "192 MiB"', 'capacity = "4096 GiB"', "has room for"),
        ('capacity = "192 MiB"', 'capacity = "16 MiB"', "the kernel needs 96 MiB"),
        ('capacity = "192 MiB"', 'capacity = "193 MiB"', "multiple of 2 MiB"),
        ('capacity = "192 MiB"', 'capacity = "a lot"', "is no size"),
        ("cores = 1", "cores = 2", "has one core"),
        ('background = "own-core"', 'background = "none"', "must be one of own-core, shared"),
        ('llc = "1 MiB"', 'llc = "3 MiB"', "must be a power of two"),
        ("unit = 64", "unit = 100", "power of two from 64 to 4096"),
        ("store_stall = 0.5", "store_stall = 2", "cannot exceed 1"),
        ("cores = 1", "cores = true", "must be of type int"),
        ("[cpu]", "[gpu]", "cpu"),
        ("cores = 1", "cores =", "must be TOML"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    with pytest.raises(KlocError) as refused:
        profile.load(changed(tmp_path, old, new))
    assert reason in f"{refused.value.message} {refused.value.hint}"


def test_more_memory_than_the_host_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 1 << 18))
    with pytest.raises(KlocError, match="this host has 1024 MiB"):
        profile.load("tiered")
    with pytest.raises(KlocError, match="this host has 1024 MiB"):
        profile.read("tiered").varied(Fraction(2))
    assert profile.read("tiered").name == "tiered"


def test_an_unknown_machine_is_answered_with_the_nearest() -> None:
    with pytest.raises(KlocError) as refused:
        profile.load("teired")
    assert "did you mean 'tiered'" in refused.value.message
    assert refused.value.hint is not None
    assert "kloc-two-tier" in refused.value.hint


@pytest.mark.parametrize(
    ("fast", "slow_bandwidth", "mib", "bandwidth", "variant"),
    [
        ("1", None, 192, 0.9375, ""),
        ("1/2", None, 96, 0.9375, "fast x 1/2"),
        ("4", "1/8", 768, 0.9375, "fast x 4"),
        # To the nearest 2 MiB.
        ("5/7", "1/2", 138, 3.75, "fast x 5/7, slow bandwidth 1/2"),
        (None, "1/3", 192, 2.5, "slow bandwidth 1/3"),
    ],
)
def test_a_machine_is_varied(
    fast: str | None, slow_bandwidth: str | None, mib: int, bandwidth: float, variant: str
) -> None:
    factors = [value and Fraction(value) for value in (fast, slow_bandwidth)]
    varied = profile.load("tiered").varied(*factors)
    assert varied.fast.capacity == mib << 20
    assert varied.slow.read_bandwidth == varied.slow.write_bandwidth == bandwidth
    assert varied.variant == variant
    assert varied.slow.capacity == 1280 << 20


@pytest.mark.parametrize(
    ("name", "fast", "slow_bandwidth", "reason"),
    [
        ("tiered", "1/4", None, "machine tiered, fast x 1/4 is refused: .* needs 96 MiB"),
        ("tiered", "16", None, "has room for 3072 MiB"),
        ("kloc-two-tier", None, "1", "the kernel would see one tier"),
        ("tiered", None, "1/100000", "needs 0.001 GB/s at least"),
    ],
)
def test_a_variant_that_cannot_be_is_refused(
    name: str, fast: str | None, slow_bandwidth: str | None, reason: str
) -> None:
    factors = [value and Fraction(value) for value in (fast, slow_bandwidth)]
    with pytest.raises(KlocError, match=reason):
        profile.load(name).varied(*factors)
