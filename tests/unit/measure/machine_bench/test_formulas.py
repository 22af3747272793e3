# SPDX-License-Identifier: GPL-2.0
"""What a profile says of memory accesses, computed by hand for a made-up machine."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kloc.machine.profile import Remote
from kloc.measure.machine_bench import formulas
from support.made_up_answers import machine

HOST = machine()
FAST, SLOW = HOST.fast, HOST.slow


@pytest.mark.parametrize(
    ("utilization", "factor"), [(0, 1), (0.3, 1), (0.5, 1), (0.75, 2.5), (1, 4), (1.2, 4)]
)
def test_latency_factor_is_piecewise_linear(utilization: float, factor: float) -> None:
    assert formulas.latency_factor(FAST, utilization) == pytest.approx(factor)


def test_a_line_out_of_sequence_takes_a_transfer_unit() -> None:
    assert formulas.line_ns(SLOW, sequential=True) == pytest.approx(64 / 16)
    assert formulas.line_ns(SLOW, sequential=False) == pytest.approx(256 / 16)


def test_a_stored_line_is_read_and_written_back() -> None:
    assert formulas.line_ns(FAST, sequential=True, stored=True) == pytest.approx(64 / 32 + 64 / 32)
    random = formulas.line_ns(SLOW, sequential=False, stored=True)
    assert random == pytest.approx(256 / 16 + 256 / 8)


def test_a_stream_of_stores_writes_some_units_twice() -> None:
    stream = formulas.line_ns(SLOW, sequential=True, stored=True)
    assert stream == pytest.approx(64 / 16 + 1.06 * 64 / 8)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 10])
def test_misses_overlap_up_to_the_number_under_way(count: int) -> None:
    # Ten lines in 80 ns are 8 GB/s, at which the latency is that of an idle tier.
    assert formulas.overlapping_ns(FAST, count) == pytest.approx(80 / count)


def test_overlapping_misses_are_bounded_by_the_bandwidth() -> None:
    # A transfer of 256 bytes takes 16 ns; 200 ns / 16 would be 12.5.
    assert formulas.overlapping_ns(SLOW, 16) == pytest.approx(16)


def test_latency_and_rate_agree_under_load() -> None:
    under_way = 40
    rate = formulas.rate(FAST, under_way, 2)
    latency = 80 * formulas.latency_factor(FAST, rate * 2)
    assert latency > 80
    assert rate * latency == pytest.approx(under_way)


def test_a_chase_beside_traffic_has_the_latency_of_that_traffic() -> None:
    assert formulas.loaded_latency(FAST, 8) == pytest.approx(80)
    latency = formulas.loaded_latency(FAST, 24)
    assert latency == pytest.approx(80 * formulas.latency_factor(FAST, (24 + 64 / latency) / 32))
    assert latency > 80 * 2.5


def test_one_core_reads_what_it_prefetches_and_all_cores_the_bandwidth() -> None:
    host = replace(HOST, cpu=replace(HOST.cpu, prefetch=20))
    assert formulas.sequential_bandwidth(host, FAST, 1, stored=False) == pytest.approx(16)
    assert formulas.sequential_bandwidth(host, SLOW, 4, stored=False) == pytest.approx(16)
    assert formulas.sequential_bandwidth(host, SLOW, 4, stored=True) == pytest.approx(64 / 12.48)


def test_accesses_to_cached_memory_do_not_miss() -> None:
    assert formulas.missing_share(HOST, HOST.cpu.llc) == 0
    assert formulas.missing_share(HOST, 4 * HOST.cpu.llc) == pytest.approx(0.75)


LINK = Remote(latency_ns=50, bandwidth=16, loaded=((0.0, 1.0), (0.5, 1.0), (1.0, 3.0)))


def test_lines_over_the_link_have_its_latency() -> None:
    # Ten lines in 130 ns are 4.9 GB/s, at which both are idle.
    assert formulas.rate(FAST, 10, 2, LINK) == pytest.approx(10 / 130)
    assert formulas.loaded_latency(FAST, 4, LINK) == pytest.approx(130)


def test_a_link_is_slower_under_load() -> None:
    # 12 GB/s are 3/4 of the link, and with the chase's own lines more.
    own = 64 / formulas.loaded_latency(FAST, 12, LINK)
    factor = 1 + 2 * ((12 + own) / 16 - 0.5) / 0.5
    assert formulas.loaded_latency(FAST, 12, LINK) == pytest.approx(80 + 50 * factor)


def test_a_link_bounds_the_rate() -> None:
    assert formulas.rate(FAST, 1000, 2, LINK) == pytest.approx(16 / 64)


def test_cores_of_two_sockets_share_the_memory_of_one() -> None:
    # 4 lines in 80 ns, and 4 in 130 ns, are 5.2 GB/s, at which all is idle.
    shared = formulas.shared_rate(FAST, 4, 2, LINK)
    assert shared == pytest.approx(4 / 80 + 4 / 130)
    assert formulas.shared_rate(FAST, 1000, 2, LINK) == pytest.approx(1 / 2)
