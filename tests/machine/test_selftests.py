# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests, tools/testing/selftests/{kloc,reloc,tiering}, in the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from kloc.machine import launcher, profile
from kloc.machine.parts import prepare_parts
from kloc.measure import policy
from support import selftests

pytestmark = pytest.mark.machine

ONE_SOCKET = profile.read(profile.DEFAULT)
TWO_SOCKETS = structs.replace(
    ONE_SOCKET, sockets=2, fast=structs.replace(ONE_SOCKET.fast, capacity=384 << 20)
)
"""A machine with two nodes in each tier."""

OF_POLICIES = [script for script in selftests.SCRIPTS if script.startswith("tiering/")]

Printer = Callable[[str, profile.Profile], selftests.Printed]
"""Runs the chosen selftests of a directory on a machine, and returns their output."""


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> Printer:
    """A function that runs the chosen selftests of a directory, once on each machine."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = {str(spec.params.get("script")) for spec in specs if spec}

    @cache
    def run(directory: str, host: profile.Profile) -> selftests.Printed:
        scripts = [
            script
            for script in selftests.SCRIPTS
            if script in chosen and Path(script).parent.name == directory
        ]
        settings = policy.load("kloc").settings("", host)
        job = selftests.job(scripts, host, settings, seconds=300)
        return selftests.parse(launcher.run(job, prepare_parts(())).frames["measured"])

    return run


def check(printed: selftests.Printed, script: str) -> None:
    """Assert that all results of a selftest are ok, and that it has all that it announces."""
    text, status = printed[script]
    if status == selftests.SKIPPED:
        pytest.skip(text)
    assert status == 0, text
    planned = re.search(r"^1\.\.(\d+)$", text, re.M)
    assert planned, text
    assert len(re.findall(r"^ok \d+ ", text, re.M)) == int(planned[1]), text
    assert re.search(r"^ok \d+ control: ", text, re.M), "no negative control"


@pytest.mark.parametrize("script", selftests.SCRIPTS)
def test_selftest_passes(printed: Printer, script: str) -> None:
    check(printed(Path(script).parent.name, ONE_SOCKET), script)


@pytest.mark.parametrize("script", OF_POLICIES)
def test_selftest_passes_on_two_sockets(printed: Printer, script: str) -> None:
    check(printed(Path(script).parent.name, TWO_SOCKETS), script)


@pytest.mark.parametrize("directory", selftests.DIRECTORIES, ids=lambda directory: directory.name)
def test_each_program_is_listed_in_the_makefile(directory: Path) -> None:
    makefile = (directory / "Makefile").read_text()
    programs_of = {source.stem for source in directory.glob("*.c")}
    built = re.search(r"^TEST_GEN_FILES \+= (.*)$", makefile, re.M)
    assert (set(built[1].split()) if built else set()) == programs_of
    if programs_of:
        assert set((directory / ".gitignore").read_text().splitlines()[1:]) == programs_of
