# SPDX-License-Identifier: GPL-2.0
"""The kernel's unit tests of what needs no tiers, in the kernel as a program."""

import re

import pytest

from kloc.build import kernel, kernel_make
from kloc.build.root import Bind, Root

PROGRAM = kernel_make.OBJECTS / "linux"


@pytest.mark.soak
def test_contexts(tools: Root) -> None:
    program = kernel.build_um()
    printed = tools.run(
        # KUnit's results end with the program, as there is no root to mount.
        ["sh", "-c", f"{PROGRAM} mem=64M kunit_shutdown=halt con=null con0=fd:0,fd:1 || true"],
        binds=[Bind(program.parent, kernel_make.OBJECTS)],
    )
    assert re.search(r"^ok 1 kloc$", printed, re.M), printed[-4000:]
    assert int(re.search(r"^# kloc: pass:(\d+) fail:0", printed, re.M)[1]) >= 20  # type: ignore[index]
    assert not re.search(r"WARNING:|BUG:|not ok", printed), printed[-4000:]
