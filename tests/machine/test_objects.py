# SPDX-License-Identifier: GPL-2.0
"""Page use, observed for a program whose pages are known; observing does not change a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kloc.build import programs
from kloc.machine import launcher, profile
from kloc.machine.job import Job, Raw
from kloc.machine.parts import Parts, prepare_parts
from kloc.measure import object_use, policy
from support.in_machine import SOURCES

pytestmark = pytest.mark.machine

COUNT = 8192
"""Pages that the program maps."""

OWN_PAGES = 400
"""The most other anonymous pages that a shell and a small program have."""

ZEROED = 512
"""Stores of 8 bytes each that the kernel clears a page with."""


@pytest.fixture(scope="module")
def program() -> Path:
    return programs.build(SOURCES / "pages.c")


@pytest.fixture(scope="module")
def parts() -> Parts:
    return prepare_parts(())


def run(program: Path, parts: Parts, observe: bool) -> Raw:
    """Run the program in a machine that observes page use if `observe` is true."""
    host = profile.load(profile.DEFAULT)
    job = Job(
        name="pages",
        profile=host,
        scripts={"measured": f"{program} {COUNT}\n"},
        settings=policy.load(object_use.POLICY).settings("", host),
        copies=(program,),
        observe=observe,
    )
    return launcher.run(job, parts)


@pytest.fixture(scope="module")
def observed(program: Path, parts: Parts) -> Raw:
    return run(program, parts, observe=True)


@pytest.fixture(scope="module")
def uses(observed: Raw) -> object_use.Uses:
    return object_use.uses(observed.model["objects"])


def read_report(raw: Raw) -> Mapping[str, Any]:
    """Return what the program printed."""
    report: Mapping[str, Any] = json.loads(raw.frames["measured"])
    return report


def test_observing_does_not_change_the_run(program: Path, parts: Parts, observed: Raw) -> None:
    plain = run(program, parts, observe=False)
    assert plain.frames == observed.frames
    assert "objects" not in plain.model
    assert plain.model == {key: observed.model[key] for key in plain.model}


def test_all_pages_of_a_program_are_counted(uses: object_use.Uses) -> None:
    anon = uses["anon"]
    assert COUNT <= anon.allocated <= COUNT + OWN_PAGES
    assert anon.lifetimes.total() >= COUNT
    # A page table has 512 entries, one for each page.
    assert uses["pagetable"].allocated >= COUNT // 512


def test_references_and_misses_of_each_page_are_counted(uses: object_use.Uses) -> None:
    # The kernel clears each page, and the program writes it and reads it once.
    minimum = COUNT * (ZEROED + 2)
    assert minimum <= uses["anon"].references < 1.5 * minimum
    # The pages exceed the last-level cache, so all 64 lines of each page miss at least once.
    assert uses["anon"].misses >= COUNT * 64


def test_pages_live_as_long_as_they_are_mapped(observed: Raw, uses: object_use.Uses) -> None:
    lifetimes = object_use.spread(uses["anon"].lifetimes)
    elapsed = read_report(observed)["elapsed_ns"]
    assert lifetimes["p99"] is not None and lifetimes["p50"] is not None
    # The first page exists for all of the time, the last one only while pages are read and
    # unmapped.
    assert elapsed / 4 < lifetimes["p50"] < elapsed
    assert lifetimes["p99"] < 1.13 * elapsed


def test_all_references_and_misses_are_attributed_to_a_page_kind(
    observed: Raw, uses: object_use.Uses
) -> None:
    model = observed.model
    misses = sum(
        sum(modes.values()) for kinds in model["misses"].values() for modes in kinds.values()
    )
    assert sum(use.misses for use in uses.values()) == misses
    references = sum(use.references for use in uses.values())
    accesses = sum(model["accesses"].values())
    # `accesses` includes copies by devices and accesses to device memory, `references` does not.
    assert 0.9 * accesses < references <= accesses
