# SPDX-License-Identifier: GPL-2.0
"""`kloc bench cost` on the machine's own kernel: its counts are deterministic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kloc.base.errors import KlocError
from kloc.build.kernel import Kernel
from kloc.measure.cost import kernels, runner

pytestmark = pytest.mark.machine

MACHINE = kernels.choose(["machine"])[-1]


def test_a_repeated_measurement_gives_the_same_counts(machine_kernel: Kernel) -> None:
    """The counts themselves need no check: `measure` fails if a known loop is counted wrong."""
    first, second = runner.measure([MACHINE, MACHINE], layouts=1)
    assert first.groups == second.groups
    assert all(group.instructions > 0 and group.lines > 0 for group in first.groups)


def test_a_missing_settings_file_is_an_error_that_names_it(machine_kernel: Kernel) -> None:
    column = replace(MACHINE, settings={"/proc/sys/vm/no_such": "1"})
    with pytest.raises(KlocError, match=r"machine kernel.* /proc/sys/vm/no_such: No such"):
        runner.measure([column])
