# SPDX-License-Identifier: GPL-2.0
"""An instance of tracefs is made, set up, and removed."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.heat import tracing
from kloc.schemes import damon
from kloc.schemes.sysfs import Attributes
from support import fake_tracing


@pytest.fixture
def fake(monkeypatch: Any, tmp_path: Path) -> fake_tracing.FakeTracing:
    monkeypatch.setattr(damon, "ROOT", tmp_path)
    return fake_tracing.install(monkeypatch, tmp_path)


def test_what_is_traced_is_read_once(fake: fake_tracing.FakeTracing) -> None:
    with tracing.started(Attributes(), 0.2) as trace:
        assert trace.read() == ""
        fake.trace("one\n")
        assert trace.read() == "one\n"
        fake.trace("two\n")
        assert trace.read() == "two\n"
    assert fake.settings[f"{tracing.EVENT}/enable"] == "1"
    assert fake.settings["trace_clock"] == "mono"
    assert not fake.instance.exists()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_the_instance_is_removed_after_any_error(
    error: type[BaseException], fake: fake_tracing.FakeTracing
) -> None:
    with pytest.raises(error), tracing.started(Attributes(), 0.2):
        raise error
    assert not fake.instance.exists()


def test_what_a_killed_kloc_left_is_replaced(fake: fake_tracing.FakeTracing) -> None:
    fake.make(fake.instance)
    fake.trace("old\n")
    with tracing.started(Attributes(), 0.2) as trace:
        assert trace.read() == ""
    assert (fake.made, fake.removed) == (2, 2)


def test_a_kernel_without_the_tracepoint_is_named(fake: fake_tracing.FakeTracing) -> None:
    (fake.folder / tracing.EVENT).rmdir()
    with pytest.raises(KlocError, match="no tracepoint damon:damon_aggregated") as error:
        tracing.started(Attributes(), 0.2).__enter__()
    assert "CONFIG_TRACING" in str(error.value.hint)
    assert fake.made == 0


@pytest.mark.parametrize(("number", "hint"), [(errno.EPERM, "lockdown"), (errno.EACCES, "as root")])
def test_a_refusal_is_explained(
    number: int, hint: str, fake: fake_tracing.FakeTracing, monkeypatch: Any
) -> None:
    def refuse(_: Path) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(tracing, "make", refuse)
    with pytest.raises(KlocError, match="tracing of DAMON was refused") as error:
        tracing.started(Attributes(), 0.2).__enter__()
    assert hint in str(error.value.hint)


def test_tracefs_is_mounted_if_it_is_not_and_unmounted_again(
    fake: fake_tracing.FakeTracing, monkeypatch: Any
) -> None:
    called = []

    def run(argv: list[str], **_: Any) -> Any:
        called.append(argv[0])
        instances = fake.folder / "instances"
        if argv[0] == "mount":
            instances.mkdir()
        else:
            instances.rmdir()
        return type("Done", (), {"returncode": 0, "stderr": ""})

    (fake.folder / "instances").rmdir()
    monkeypatch.setattr(tracing.subprocess, "run", run)
    with tracing.started(Attributes(), 0.2):
        assert fake.instance.exists()
    assert called == ["mount", "umount"]


def test_the_buffer_holds_some_readings() -> None:
    # 1,000 regions in each of two intervals, four times.
    assert tracing.buffer_kib(Attributes(), 0.2) == 500
    assert tracing.buffer_kib(Attributes(max_regions=3), 0.2) == tracing.BUFFER_MIN
