# SPDX-License-Identifier: GPL-2.0
"""The table of `kloc size`: fast memory that each policy needs within each bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kloc.measure.sizing import FOUND, NO_SIZE, REFERENCE
from kloc.results.size_document import KEY, PRICES, saved_text

if TYPE_CHECKING:
    from rich.table import Table

MIB = 1 << 20


def heading(content: Mapping[str, Any]) -> list[str]:
    """Return the lines above the table: what was measured, and over which sizes."""
    found = content[KEY]
    title = f"{found['workload']}, machine {content['machine']['name']}, seed {found['seed']}"
    if not found["sizes_bytes"]:
        return [f"{title}: {REFERENCE} was not measured"]
    rate = next(one["throughput"] for one in found[REFERENCE] if one["seed"] == found["seed"])
    sizes = found["sizes_bytes"]
    steps = f" in steps of {(sizes[1] - sizes[0]) // MIB}" if len(sizes) > 1 else ""
    return [
        f"{title}: {REFERENCE} does {rate:,.0f} ops/s with {found['in_use_bytes'] / MIB:,.0f} MiB "
        "in use",
        f"sizes of fast memory from {sizes[0] // MIB} to {sizes[-1] // MIB} MiB{steps}",
    ]


def table(content: Mapping[str, Any]) -> Table:
    """Return the table with a row for each policy and bound.

    "within" is the bound, "slowdown" that of throughput relative to all-fast with the same seed.
    """
    from rich import box
    from rich.table import Table

    found = content[KEY]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("policy")
    drawn.add_column("within", justify="right")
    drawn.add_column("fast\nMiB", justify="right")
    drawn.add_column("of all\nin use", justify="right")
    drawn.add_column("\nops/s", justify="right")
    drawn.add_column("slow-\ndown", justify="right")
    drawn.add_column(f"with\nseed {found['check_seed']}", justify="right")
    drawn.add_column(f"saved at\n{', '.join(map(str, PRICES))}", justify="right")
    for one in found["answers"]:
        drawn.add_row(*_cells(one, found["in_use_bytes"]))
    return drawn


def remarks(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines below the table: bounds without a size, and what is luck."""
    found = content[KEY]
    for one in found["answers"]:
        name = f"{one['policy']} within {one['bound']:g} %"
        if one["state"] == NO_SIZE:
            yield (
                f"{name}: no size meets this bound; with the largest, "
                f"{one['fast_bytes'] // MIB} MiB, it does {one['throughput']:,.0f} ops/s and is "
                f"{one['slowdown']:.1f} % slower than {REFERENCE}"
            )
        elif one["state"] != FOUND:
            yield f"{name}: the search did not end"
        if one["smallest"]:
            yield f"{name}: even the smallest fast memory of this machine meets this bound"
        if one["lucky"]:
            sizes = ", ".join(str(size // MIB) for size in one["lucky"])
            yield (
                f"{name}: {sizes} MiB met this bound, too, but a larger size that was measured did "
                "not"
            )
        if one["checked"] is not None and one["checked"] > one["bound"]:
            yield (
                f"{name}: with seed {found['check_seed']}, this size does not meet the bound; take "
                "the next larger size, or measure more seeds"
            )
    yield (
        "saved: how much less memory costs than with all memory in use as fast memory, if slow "
        f"memory costs {', '.join(map(str, PRICES))} of fast memory"
    )


def _cells(answer: Mapping[str, Any], used: int | None) -> list[str]:
    named = [answer["policy"], f"{answer['bound']:g} %"]
    if answer["state"] != FOUND or used is None:
        return [*named, "none" if answer["state"] == NO_SIZE else "?", *[""] * 5]
    return [
        *named,
        f"{answer['fast_bytes'] // MIB:,}",
        f"{100 * answer['fast_bytes'] / used:.0f} %",
        f"{answer['throughput']:,.0f}",
        _percent(answer["slowdown"]),
        _percent(answer["checked"]),
        saved_text(answer["savings"]),
    ]


def _percent(value: float | None) -> str:
    """Return a slowdown in percent; one below 0 is a speed-up."""
    return "" if value is None else f"{value:.1f} %"
