# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests, tools/testing/selftests/{kloc,reloc,tiering}, in the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kloc.machine import profile
from kloc.measure import policy
from support import selftests

pytestmark = pytest.mark.machine

ONE_SOCKET = profile.read(profile.DEFAULT)
TWO_SOCKETS = profile.read("four-node")
"""A machine with two nodes in each tier."""

OF_ONE_SOCKET = {
    # No node begins or ends with a whole block of memory there.
    "kloc/hotplug.sh",
    # What these show does not depend on the nodes.
    *("kloc/charged.sh", "kloc/collapse.sh", "kloc/ids.sh", "kloc/opened_before.sh"),
    *("kloc/scan.sh", "kloc/split.sh", "kloc/stat_while_switching.sh"),
    *("kloc/many_groups.sh", "kloc/room_bounded.sh"),
    # These allow their pages the nodes of one socket.
    *("tiering/hint_huge.sh", "tiering/opm.sh"),
}
"""Selftests that run on one socket only."""

ON_TWO_SOCKETS = [
    script
    for script in selftests.SCRIPTS
    if not script.startswith("reloc/") and script not in OF_ONE_SOCKET
]

Printer = Callable[[tuple[str, profile.Profile]], selftests.Printed]
"""Runs the chosen selftests of a directory on a machine, and returns their output."""


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> Printer:
    """A function that runs the chosen selftests of a directory, once on each machine."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = {str(spec.params.get("script")) for spec in specs if spec}

    @selftests.once
    def run(at: tuple[str, profile.Profile]) -> selftests.Printed:
        directory, host = at
        scripts = [
            script
            for script in selftests.SCRIPTS
            if script in chosen and Path(script).parent.name == directory
        ]
        settings = policy.load("kloc").settings("", host)
        return selftests.run(selftests.job(scripts, host, settings))

    return run


def check(printed: selftests.Printed, script: str) -> None:
    """Assert that a selftest passes. Skip it if the kernel or the machine cannot run it."""
    text, status = printed[script]
    if status == selftests.SKIPPED:
        pytest.skip(text)
    selftests.check(printed, script)


@pytest.mark.parametrize("script", selftests.SCRIPTS)
def test_selftest_passes(printed: Printer, script: str) -> None:
    check(printed((Path(script).parent.name, ONE_SOCKET)), script)


@pytest.mark.parametrize("script", ON_TWO_SOCKETS)
def test_selftest_passes_on_two_sockets(printed: Printer, script: str) -> None:
    check(printed((Path(script).parent.name, TWO_SOCKETS)), script)


@pytest.mark.parametrize(
    "directory",
    [*selftests.DIRECTORIES, selftests.TOPOLOGY],
    ids=lambda directory: directory.name,
)
def test_each_program_is_listed_in_the_makefile(directory: Path) -> None:
    makefile = (directory / "Makefile").read_text()
    programs_of = {source.stem for source in directory.glob("*.c")}
    built = re.search(r"^TEST_GEN_FILES \+= (.*)$", makefile, re.M)
    assert (set(built[1].split()) if built else set()) == programs_of
    if programs_of:
        assert set((directory / ".gitignore").read_text().splitlines()[1:]) == programs_of
