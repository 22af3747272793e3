# SPDX-License-Identifier: GPL-2.0
"""What policies, contexts and limits do on the running kernel, as metrics for Prometheus.

docs/server.md ("What is it doing?") has the list. Sizes are in bytes; counters count since boot.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kloc.base.errors import KlocError
from kloc.server import contexts, control, kernel_settings, memory, slabs, tiering

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

CONTEXTS_SECONDS = 60.0
"""How old the totals of contexts may be: reading them walks all page cache that has contexts."""

COUNTERS = {
    "demoted": "Memory that left fast memory, by reason",
    "promoted": "Memory that came to fast memory, by reason",
    "not_moved": "Memory that should have moved and did not, by reason",
    "placed": "New memory, by the tier that it was placed in",
}
"""The counters by group of counts, with their help."""

FATES = {
    tiering.FREED: "Memory that was freed soon after it was moved: its copy was for nothing",
    tiering.RETURNED: "Memory that moved back soon after it was moved",
}

Totals = dict[str, Counter[str]]
"""Contexts and their pages by kind of context: number, active, fast, slow."""


def registry(read_contexts: bool = True) -> CollectorRegistry:
    """Return a registry whose metrics are read from the kernel whenever they are collected.

    Without `read_contexts`, the totals of contexts are left out. Raises KlocError without
    prometheus_client.
    """
    try:
        from prometheus_client import CollectorRegistry
    except ImportError as error:
        raise KlocError(
            "metrics need the Python package prometheus_client",
            "apt-get install python3-prometheus-client",
        ) from error
    result = CollectorRegistry()
    result.register(_Collector(read_contexts))
    return result


class _Collector:
    """Reads all metrics. Several threads may collect at once."""

    def __init__(self, read_contexts: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._read_contexts = read_contexts
        self._clock = clock
        self._lock = threading.Lock()
        self._totals: Totals | None = None
        self._read_at = -CONTEXTS_SECONDS
        self._page = os.sysconf("SC_PAGE_SIZE")

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._state()
        yield from self._moves()
        yield from self._nodes()
        yield from self._limits()
        yield from self._slabs()
        if self._read_contexts and contexts.exist():
            yield from self._contexts()

    def describe(self) -> list[Metric]:
        """Return nothing: a registry would else read everything when it is made."""
        return []

    def _state(self) -> Iterator[Metric]:
        policy = {"policy": tiering.selected(), "kernel": os.uname().release}
        yield _gauge("kloc_info", "The selected policy, and the kernel", [(policy, 1)])
        is_on = control.recorded() is not None
        yield _gauge("kloc_on", "Whether kloc is on (kloc on)", [({}, is_on)])
        values = kernel_settings.read_all()
        found = [({"name": name}, value) for name, value in values.items() if value is not None]
        yield _gauge("kloc_kernel_setting", "Settings that the policy kloc depends on", found)
        suffices = [
            (labels, kernel_settings.SETTINGS[labels["name"]].suffices(value))
            for labels, value in found
        ]
        text = "Whether a setting is as the policy kloc needs it"
        yield _gauge("kloc_kernel_setting_suffices", text, suffices)
        yield _gauge("kloc_knodes", "Contexts", [({}, contexts.read_figure("knodes"))])
        overhead = [
            ({"of": "knodes"}, contexts.read_figure("knode_bytes")),
            ({"of": "pages"}, tiering.read_page_bytes()),
        ]
        text = "Memory of the records of contexts and pages"
        yield _gauge("kloc_records_bytes", text, overhead)

    def _moves(self) -> Iterator[Metric]:
        counts = tiering.read_counts()
        label = {group: "tier" if group == "placed" else "reason" for group in COUNTERS}
        for group, text in COUNTERS.items():
            samples = [
                ({"kind": kind, label[group]: reason}, pages * self._page)
                for kind, of_kind in counts.items()
                for name, pages in of_kind.items()
                if (reason := _reason(name, group)) and not name.endswith(tuple(FATES))
            ]
            yield _counter(f"kloc_{group}_bytes", text, samples)
        for fate, text in FATES.items():
            samples = [
                (
                    {"kind": kind, "direction": group, "reason": reason.removesuffix(f"_{fate}")},
                    pages * self._page,
                )
                for kind, of_kind in counts.items()
                for name, pages in of_kind.items()
                for group in ("demoted", "promoted")
                if (reason := _reason(name, group)) and name.endswith(f"_{fate}")
            ]
            yield _counter(f"kloc_{fate}_bytes", text, samples)

    def _nodes(self) -> Iterator[Metric]:
        nodes = memory.read_nodes()
        yield _gauge(
            "kloc_node_bytes",
            "Memory of a node, and its tier: fast, slow, or none if all is of one tier",
            [
                (
                    {"node": str(number), "tier": node.tier or "none"},
                    sum(node.managed.values()) * self._page,
                )
                for number, node in nodes.items()
            ],
        )
        yield _gauge(
            "kloc_node_kswapd_gave_up",
            "Whether kswapd of a node has given up, so that it makes no room",
            [({"node": str(number)}, node.gave_up) for number, node in nodes.items()],
        )

    def _limits(self) -> Iterator[Metric]:
        nodes = [
            ({"node": name.removeprefix("node")}, int(text) << 10)
            for name, text in contexts.read_node_limits().items()
            if text != contexts.NO_LIMIT
        ]
        yield _gauge("kloc_node_limit_bytes", "Limits of page cache on fast nodes", nodes)
        groups = contexts.read_cgroup_limits()
        limited = {
            name: group for name, group in groups.items() if group["max"] != contexts.NO_LIMIT
        }
        yield _gauge(
            "kloc_cgroup_limit_bytes",
            "Limits of the page cache of cgroups in fast memory",
            [({"cgroup": name}, int(group["max"])) for name, group in limited.items()],
        )
        yield _gauge(
            "kloc_cgroup_fast_bytes",
            "Page cache in fast memory of cgroups that have a limit",
            [({"cgroup": name}, int(group.get("current", 0))) for name, group in limited.items()],
        )

    def _slabs(self) -> Iterator[Metric]:
        caches = slabs.read_caches()
        for suffix, text in (("", "Slabs that can move"), ("_unused", "Those unused for 8 scans")):
            yield _gauge(
                f"kloc_slab{suffix}_bytes",
                text,
                [
                    ({"cache": cache, "tier": tier}, pages[f"{tier}{suffix}"] * self._page)
                    for cache, pages in caches.items()
                    for tier in (memory.FAST, memory.SLOW)
                ],
            )
        moved = [
            ({"cache": cache, "direction": direction}, pages[direction] * self._page)
            for cache, pages in caches.items()
            for direction in ("demoted", "promoted")
        ]
        yield _counter("kloc_slab_moved_bytes", "Slabs that moved", moved)

    def _contexts(self) -> Iterator[Metric]:
        totals = self._totals_now()
        readable = totals is not None
        text = "Whether the totals of contexts could be read; only root can"
        yield _gauge("kloc_contexts_readable", text, [({}, readable)])
        if totals is None:
            return
        number: list[_Sample] = []
        size: list[_Sample] = []
        for kind, total in totals.items():
            inactive = total["number"] - total["active"]
            for state, count in (("active", total["active"]), ("inactive", inactive)):
                number.append(({"kind": kind, "state": state}, count))
            for tier in (memory.FAST, memory.SLOW):
                size.append(({"kind": kind, "tier": tier}, total[tier] * self._page))
        yield _gauge("kloc_contexts", "Contexts by kind and state", number)
        yield _gauge("kloc_context_bytes", "Page cache of contexts in each tier", size)

    def _totals_now(self) -> Totals | None:
        """Return the totals of contexts, up to CONTEXTS_SECONDS old; None if they are unknown."""
        with self._lock:
            if self._clock() - self._read_at >= CONTEXTS_SECONDS:
                self._totals = _read_totals()
                self._read_at = self._clock()
            return self._totals


_Sample = tuple[dict[str, str], float]
"""The labels of a value, and the value."""


def _read_totals() -> Totals | None:
    try:
        return contexts.totals_by_kind()
    except KlocError:
        return None


def _reason(name: str, group: str) -> str:
    """Return the part of a count's name after its group, "" if it is of another group."""
    return name[len(group) + 1 :] if name.startswith(f"{group}_") else ""


def _gauge(name: str, text: str, samples: Sequence[_Sample]) -> Metric:
    from prometheus_client.metrics_core import GaugeMetricFamily

    return _filled(GaugeMetricFamily(name, text, labels=_labels(samples)), samples)


def _counter(name: str, text: str, samples: Sequence[_Sample]) -> Metric:
    from prometheus_client.metrics_core import CounterMetricFamily

    return _filled(CounterMetricFamily(name, text, labels=_labels(samples)), samples)


def _labels(samples: Sequence[_Sample]) -> list[str]:
    return list(samples[0][0]) if samples else []


def _filled(family: Metric, samples: Sequence[_Sample]) -> Metric:
    for labels, value in samples:
        family.add_metric(list(labels.values()), float(value))  # type: ignore[attr-defined]
    return family
