# SPDX-License-Identifier: GPL-2.0
"""What pages are used for, observed of a program whose pages are known; and at what cost."""

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
# What a shell and a small program have for themselves.
OWN_PAGES = 400
ZEROED = 512
"""Stores that clear a page, 8 bytes each."""


@pytest.fixture(scope="module")
def program() -> Path:
    return programs.build(SOURCES / "pages.c")


@pytest.fixture(scope="module")
def parts() -> Parts:
    return prepare_parts(())


def run(program: Path, parts: Parts, observe: bool) -> Raw:
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


def said(raw: Raw) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(raw.frames["measured"])
    return found


def test_observing_costs_the_run_nothing(program: Path, parts: Parts, observed: Raw) -> None:
    plain = run(program, parts, observe=False)
    assert plain.frames == observed.frames
    assert "objects" not in plain.model
    assert plain.model == {key: observed.model[key] for key in plain.model}


def test_a_program_s_pages_are_counted(uses: object_use.Uses) -> None:
    anon = uses["anon"]
    assert COUNT <= anon.allocated <= COUNT + OWN_PAGES
    assert anon.lifetimes.total() >= COUNT
    # A page table has 512 entries.
    assert uses["pagetable"].allocated >= COUNT // 512


def test_every_page_was_cleared_written_and_read(uses: object_use.Uses) -> None:
    least = COUNT * (ZEROED + 2)
    assert least <= uses["anon"].references < 1.5 * least
    # The 64 lines of a page are past what the last level holds before they are read again.
    assert uses["anon"].misses >= COUNT * 64


def test_pages_live_as_long_as_they_are_mapped(observed: Raw, uses: object_use.Uses) -> None:
    lifetimes = object_use.spread(uses["anon"].lifetimes)
    elapsed = said(observed)["elapsed_ns"]
    assert lifetimes["p99"] is not None and lifetimes["p50"] is not None
    # The first page lives for all of the time, the last for that of reading and unmapping.
    assert elapsed / 4 < lifetimes["p50"] < elapsed
    assert lifetimes["p99"] < 1.13 * elapsed


def test_all_references_and_misses_are_somebody_s(observed: Raw, uses: object_use.Uses) -> None:
    model = observed.model
    misses = sum(
        sum(modes.values()) for kinds in model["misses"].values() for modes in kinds.values()
    )
    assert sum(use.misses for use in uses.values()) == misses
    references = sum(use.references for use in uses.values())
    accesses = sum(model["accesses"].values())
    # Copies by devices and accesses to device memory are in the one and not in the other.
    assert 0.9 * accesses < references <= accesses
