# SPDX-License-Identifier: GPL-2.0
"""kloc bench cost, on the machine's own kernel: the figures are the kernel's and nothing else's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kloc.base.errors import KlocError
from kloc.build.kernel import Kernel
from kloc.measure.cost import kernels, runner

pytestmark = pytest.mark.machine

OURS = kernels.choose(["machine"])[-1]


def test_a_second_time_gives_the_same(machine_kernel: Kernel) -> None:
    """That a known loop is counted as what it is, the measuring itself sees to."""
    first, second = runner.measure([OURS, OURS], layouts=1)
    assert first.groups == second.groups
    assert all(group.instructions > 0 and group.lines > 0 for group in first.groups)


def test_a_file_that_the_kernel_has_not_is_told(machine_kernel: Kernel) -> None:
    wrong = replace(OURS, settings={"/proc/sys/vm/no_such": "1"})
    with pytest.raises(KlocError, match=r"machine kernel: failed /proc/sys/vm/no_such: No such"):
        runner.measure([wrong])
