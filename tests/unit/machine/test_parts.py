# SPDX-License-Identifier: GPL-2.0
"""The parts of a machine are those that the job needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kloc.machine import parts


@pytest.fixture(autouse=True)
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every part is there, without being built; the order of what happens to the kernel."""
    order: list[str] = []

    @contextmanager
    def building() -> Iterator[None]:
        order.append("kernel begun")
        yield
        order.append("kernel waited for")

    monkeypatch.setattr(parts.kernel_process, "building", building)
    monkeypatch.setattr(parts, "tool_root", lambda: "root")
    monkeypatch.setattr(parts.kernel, "build", lambda: "kernel")
    monkeypatch.setattr(parts.foreign_kernel, "prepare", lambda name: f"kernel of {name}")
    monkeypatch.setattr(parts.qemu, "build", lambda: "qemu")
    monkeypatch.setattr(parts.plugin, "build", lambda: "plugin")
    monkeypatch.setattr(parts.guest_image, "guest_image", lambda packages: packages)

    def build_program(source: Path) -> Path:
        order.append(source.stem)
        return source.with_suffix("")

    monkeypatch.setattr(parts.programs, "build", build_program)
    return order


def test_parts_have_each_package_once_and_a_program_per_source() -> None:
    prepared = parts.prepare_parts(["fio", "attr", "fio"], [Path("a.c"), Path("b.c")])
    assert prepared.image == ["attr", "fio"]
    assert prepared.programs == (parts.MARK.with_suffix(""), Path("a"), Path("b"))
    assert str(prepared.kernel) == "kernel"


def test_another_kernel_comes_with_the_program_that_lists_free_frames() -> None:
    prepared = parts.prepare_parts((), foreign="linux-image-amd64")
    assert str(prepared.kernel) == "kernel of linux-image-amd64"
    assert prepared.programs == (parts.MARK.with_suffix(""), parts.FREE.with_suffix(""))


def test_the_kernel_is_built_beside_all_other_parts(order: list[str]) -> None:
    guests = [parts.Guest(("fio",), (Path("a.c"),)), parts.Guest((), (Path("b.c"),))]
    first, second = parts.prepare_machines(guests, meanwhile=lambda: order.append("meanwhile"))
    assert (order[0], order[-2], order[-1]) == ("kernel begun", "meanwhile", "kernel waited for")
    assert {"a", "b"} <= set(order)
    assert (first.programs[-1], second.programs[-1]) == (Path("a"), Path("b"))
    assert str(first.kernel) == str(second.kernel) == "kernel"


def test_our_kernel_is_not_built_for_another_one(order: list[str]) -> None:
    parts.prepare_parts((), foreign="linux-image-amd64")
    assert "kernel begun" not in order
