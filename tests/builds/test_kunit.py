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
    suites = re.findall(r"^# (kloc-\w+): pass:(\d+) fail:0", printed, re.M)
    names = [name for name, _ in suites]
    assert names == ["kloc-knode", "kloc-kmap", "kloc-lists"], printed[-4000:]
    assert sum(int(passed) for _, passed in suites) >= 19, printed[-4000:]
    assert not re.search(r"WARNING:|BUG:|not ok", printed), printed[-4000:]
