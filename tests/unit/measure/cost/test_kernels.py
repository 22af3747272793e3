# SPDX-License-Identifier: GPL-2.0
"""The kernels of `kloc bench cost`, and how they are selected."""

from __future__ import annotations

import pytest

from kloc.base.errors import KlocError
from kloc.build import kernel
from kloc.measure.cost import kernels


def test_the_unpatched_kernel_is_always_the_first() -> None:
    assert [column.name for column in kernels.choose(["machine"])] == ["unpatched", "machine"]


def test_without_names_all_kernels_are_measured() -> None:
    assert kernels.choose([]) == list(kernels.COLUMNS)


def test_an_unknown_kernel_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(KlocError, match=r"'mashine'.*'machine'"):
        kernels.choose(["mashine"])


def test_every_column_can_be_built() -> None:
    assert {column.variant for column in kernels.COLUMNS} <= kernel.VARIANTS.keys()
