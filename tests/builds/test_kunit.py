# SPDX-License-Identifier: GPL-2.0
"""The kernel's unit tests that need no tiers, run in the kernel for ARCH=um, a program."""

import re

import pytest

from kloc.build import kernel, kernel_make
from kloc.build.root import Bind, Root

PROGRAM = kernel_make.OBJECTS / "linux"


@pytest.mark.soak
def test_unit_tests_of_contexts_pass(tools: Root) -> None:
    program = kernel.build_um()
    printed = tools.run(
        # There is no root to mount: the kernel halts after the tests. Its status is not used.
        ["sh", "-c", f"{PROGRAM} mem=64M kunit_shutdown=halt con=null con0=fd:0,fd:1 || true"],
        binds=[Bind(program.parent, kernel_make.OBJECTS)],
    )
    assert re.search(r"^ok 1 kloc$", printed, re.M), printed[-4000:]
    assert int(re.search(r"^# kloc: pass:(\d+) fail:0", printed, re.M)[1]) >= 20  # type: ignore[index]
    assert not re.search(r"WARNING:|BUG:|not ok", printed), printed[-4000:]
