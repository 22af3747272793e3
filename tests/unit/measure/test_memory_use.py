# SPDX-License-Identifier: GPL-2.0
"""The memory and DAMON's statistics in a record, and notes on schemes that did nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kloc.base.errors import KlocError
from kloc.measure import memory_use
from support import made_up_raw

SAMPLES = "1000 4000 0\n6000 6000 1000\n"
VMSTAT = "\n".join(["numa_hint_faults 0", "pgpromote_success 0", "pgsteal_kswapd 0", ""])


def end(**counts: int) -> Mapping[str, str]:
    """Return the frame with these of the kernel's counters at the end of the region."""
    return {"vmstat_end": VMSTAT + "".join(f"{name} {value}\n" for name, value in counts.items())}


def test_memory_is_what_is_resident_and_what_zram_holds() -> None:
    assert memory_use.memory({"memory": SAMPLES}) == {
        "mean": 5500,
        "resident": 5000,
        "swapped": 500,
        "samples": 2,
    }
    assert made_up_raw.run(more={"memory": SAMPLES})["memory"]["mean"] == 5500


def test_runs_whose_memory_was_not_sampled_say_nothing_of_it() -> None:
    assert memory_use.memory({}) is None
    assert "memory" not in made_up_raw.run()
    assert "scheme" not in made_up_raw.run()


def test_no_sample_is_an_error() -> None:
    with pytest.raises(KlocError, match="no sample of memory"):
        memory_use.memory({"memory": ""})


def test_statistics_of_damon_are_by_scheme() -> None:
    printed = "0/0/nr_tried 3\n1/0/nr_tried 9\n0/1/nr_tried 7\n0/0/sz_applied 4096\n"
    assert memory_use.scheme_stats({"damon": printed}) == [
        {"nr_tried": 3, "sz_applied": 4096},
        {"nr_tried": 7},
        {"nr_tried": 9},
    ]
    run = made_up_raw.run("prcl", more={"damon": printed, **end(pswpout=1)})
    assert run["scheme"]["name"] == "prcl"
    assert run["scheme"]["stats"][0]["nr_tried"] == 3


@pytest.mark.parametrize(
    ("name", "more", "note"),
    [
        ("prcl", end(), "prcl did nothing here: no page was swapped out"),
        ("prcl", end(pswpout=1), None),
        ("thp", end(), "thp did nothing here: no huge page was made"),
        ("thp", end(thp_collapse_alloc=1), None),
        ("rec", {}, "rec did nothing here: no CPU time of DAMON"),
        ("rec", {"kthreads_end": "kdamond.0 5\n"}, None),
    ],
)
def test_a_policy_whose_scheme_did_nothing_has_a_note(
    name: str, more: Mapping[str, str], note: str | None
) -> None:
    notes = [one for one in made_up_raw.run(name, more=more)["notes"] if "did nothing" in one]
    assert notes == ([] if note is None else [note])
