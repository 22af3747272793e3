# SPDX-License-Identifier: GPL-2.0
"""The parts of a machine are those that the job needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.machine import parts


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part is there, without being built."""
    monkeypatch.setattr(parts, "tool_root", lambda: "root")
    monkeypatch.setattr(parts.kernel, "build", lambda: "kernel")
    monkeypatch.setattr(parts.foreign_kernel, "prepare", lambda name: f"kernel of {name}")
    monkeypatch.setattr(parts.qemu, "build", lambda: "qemu")
    monkeypatch.setattr(parts.plugin, "build", lambda: "plugin")
    monkeypatch.setattr(parts.guest_image, "guest_image", lambda packages: packages)
    monkeypatch.setattr(parts.programs, "build", lambda source: source.with_suffix(""))


def test_parts_have_each_package_once_and_a_program_per_source() -> None:
    prepared = parts.prepare_parts(["fio", "attr", "fio"], [Path("a.c"), Path("b.c")])
    assert prepared.image == ["attr", "fio"]
    assert prepared.programs == (parts.MARK.with_suffix(""), Path("a"), Path("b"))
    assert str(prepared.kernel) == "kernel"


def test_another_kernel_comes_with_the_program_that_lists_free_frames() -> None:
    prepared = parts.prepare_parts((), foreign="linux-image-amd64")
    assert str(prepared.kernel) == "kernel of linux-image-amd64"
    assert prepared.programs == (parts.MARK.with_suffix(""), parts.FREE.with_suffix(""))
