# SPDX-License-Identifier: GPL-2.0
"""serverless: a service that is idle, and then gets requests (DAOS, HPDC 2022, Figure 9).

Most memory of the paper's production service is not in its working set: about 90 %. It
reclaims what was not touched for 30 seconds.

- Load: start a server (workloads/src/idle_service.c) with 64 MiB of memory, of which a
  half can be compressed away, and leave it alone for 0.1 s.
- Measured: the server is idle for 6 s of the machine's time, 256 s of the full-size
  machine. A health check reads a tenth of its memory every 100 us, 4.3 ms of the
  full-size machine, so that DAMON, which samples every 5 ms there, sees what is in use.
  Then it gets 2,000 requests, one after the other, each of which reads 64 pages of all its memory.
- Operations: the requests. The latencies are those of all but the first one.
- Figures of its own: the latency of the first request, and the server's resident memory
  at times of the idle phase.
- Check: each page that was read had the right contents.

Limits

- Throughput says nothing: the idle time is a part of the region. It is idle on purpose, and so
  has no warm-up; nothing waits before the region.
- The idle time is the same for all sizes, because a scheme's age is, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.measure.workload import (
    Outcome,
    Size,
    Workload,
    WorkloadFailed,
    histogram,
    percentiles,
)

MIB = 64
IDLE_MS = 6_000
REQUESTS = 2_000

FIRST = "first request, us"
RSS = {f"RSS at {ms / 1000:g} s, MiB": ms for ms in range(0, IDLE_MS + 1, IDLE_MS // 4)}
"""The figures of resident memory, each with its time in the idle phase."""

SAMPLE = re.compile(r"^rss (\d+) (\d+)$", re.M)


def _setup(size: Size, seed: int) -> str:
    # Nobody asks anything for 0.1 s (4 s of the full-size machine). If health checks begin at once,
    # DAMON's first regions mix memory in use with idle memory, and may do so until the end.
    return f"""
idle_service serve mib={size.loaded(MIB)} </dev/null >/dev/null 2>&1
sleep 0.1
"""


def _measured(size: Size, seed: int) -> str:
    return f"idle_service run idle={IDLE_MS} requests={REQUESTS} seed={seed}\n"


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    text = printed["measured"]
    first = re.search(r"^first (\d+)$", text, re.M)
    times = histogram(text)
    done = sum(times.values()) + bool(first)
    if first is None or done != REQUESTS:
        raise WorkloadFailed(f"serverless: {done} of {REQUESTS} requests were answered")
    resident = {int(ms): int(kib) / 1024 for ms, kib in SAMPLE.findall(text)}
    figures = {FIRST: int(first[1]) / 1000}
    for name, time in RSS.items():
        # The samples are not exactly at these times.
        figures[name] = resident[min(resident, key=lambda ms: abs(ms - time))]
    return Outcome(REQUESTS, percentiles(times), figures)


def workloads() -> Iterable[Workload]:
    """Return serverless."""
    yield Workload(
        name="serverless",
        summary="an idle service whose memory can be reclaimed, and its first request after that",
        packages=(),
        programs=("idle_service.c",),
        setup=_setup,
        measured=_measured,
        check=None,
        outcome=_outcome,
        instructions=3e9,
        repeatable=False,
        not_native="its times are those of the machine, which are divided",
    )
