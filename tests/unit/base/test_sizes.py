# SPDX-License-Identifier: GPL-2.0
"""Byte sizes, as they are written and printed."""

import pytest

from kloc.base.errors import KlocError
from kloc.base.sizes import exact_size, parse_size, rounded_size


@pytest.mark.parametrize(
    ("text", "size"), [("192 MiB", 192 << 20), ("1.5 GiB", 3 << 29), (" 7 B ", 7), (4096, 4096)]
)
def test_size_is_parsed(text: object, size: int) -> None:
    assert parse_size(text, "capacity") == size


@pytest.mark.parametrize("text", ["192", "192 MB", "x MiB", "inf GiB", "", None, True, 1.5])
def test_text_that_is_not_a_size_is_an_error(text: object) -> None:
    with pytest.raises(KlocError, match="capacity") as error:
        parse_size(text, "capacity")
    assert "MiB" in (error.value.hint or "")


def test_exact_size_parses_back() -> None:
    for size in (0, 1, 1023, 1 << 10, 3 << 29, 192 << 20):
        assert parse_size(exact_size(size), "") == size


def test_rounded_size_is_in_mib_or_gib() -> None:
    assert rounded_size(0) == "0 MiB"
    assert rounded_size((192 << 20) + 12345) == "192 MiB"
    assert rounded_size(3 << 29) == "1.5 GiB"
