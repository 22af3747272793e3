# SPDX-License-Identifier: GPL-2.0
"""Pinned versions are installed exactly; one that Debian does not offer is replaced, and named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kloc.build import bootstrap, guest_image, pins
from kloc.build.root import Root

PACKAGES = ("mawk",)


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The newest versions of a small root's packages."""
    tar = tmp_path_factory.mktemp("offered") / "root.tar"
    bootstrap.bootstrap("a root", PACKAGES, tar, seconds=15)
    return guest_image.installed(tar)


def test_version_that_debian_no_longer_offers_is_replaced_by_the_newest(
    offered: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pins, "FILE", tmp_path / "pins.txt")
    pins.write({**offered, "mawk": "0.1-1"})
    tar = tmp_path / "root.tar"
    bootstrap.bootstrap("a root", PACKAGES, tar, seconds=15, pinned=True)
    installed = guest_image.installed(tar)
    assert installed == offered
    pins.report("a root", installed)
    said = " ".join(capsys.readouterr().err.split())
    assert f"mawk {offered['mawk']} for 0.1-1" in said


def test_tool_root_and_guest_are_of_pinned_versions_or_say_which_are_not(tools: Root) -> None:
    pinned = pins.read()
    for installed in (tools.packages(), guest_image.guest_image().versions):
        others = pins.missed(installed)
        assert all(name in pinned for name in installed if name not in pins.UNPINNED)
        assert {name: installed[name] for name in others} == {
            name: used for name, (_, used) in others.items()
        }
