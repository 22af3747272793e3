# SPDX-License-Identifier: GPL-2.0
"""Packages of a kernel for servers: names, control file, and the order of the build's steps."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest
from debian.changelog import Changelog
from debian.deb822 import Deb822

from kloc.base import cache
from kloc.base.errors import KlocError, UsageError
from kloc.build import kernel_package
from kloc.build.kernel_package import Build, Version
from kloc.build.root import Bind, Root

VERSION = Version("6.12.118-1", "cloud-amd64", "0123456789abcdef0123", 1795862243)
"""Made on 2026-11-28."""


def test_release_tells_kernels_apart_and_fits_into_uname() -> None:
    assert VERSION.release == "6.12.118-kloc20261128.01234567-cloud-amd64"
    others = [
        Version("6.12.118-1", "amd64", VERSION.series, VERSION.time),
        Version("6.12.118-1", "cloud-amd64", "f" * 20, VERSION.time),
        Version("6.12.119-1", "cloud-amd64", VERSION.series, VERSION.time),
    ]
    names = {VERSION.release, *(other.release for other in others)}
    files = {name for version in (VERSION, *others) for name in version.files}
    assert (len(names), len(files)) == (4, 8)
    assert max(map(len, names)) < 64


def test_files_are_named_as_dpkg_names_them() -> None:
    image, headers = VERSION.files
    assert image == f"linux-image-{VERSION.release}_{VERSION.package}_amd64.deb"
    assert headers == f"linux-headers-{VERSION.release}_{VERSION.package}_amd64.deb"


def test_control_file_describes_both_packages() -> None:
    source, image, headers = Deb822.iter_paragraphs(VERSION.control())
    assert source["Rules-Requires-Root"] == "no"
    assert image["Package"] == f"linux-image-{VERSION.release}"
    assert headers["Package"] == f"linux-headers-{VERSION.release}"
    assert image["Architecture"] == headers["Architecture"] == "amd64"
    # Drivers of disks are modules.
    assert "initramfs-tools" in image["Depends"]
    description = " ".join(image["Description"].split())
    for words in ("6.12.118-1", "cloud-amd64", "not signed for Secure Boot", "Xen PV"):
        assert words in description
    lines = [*image["Description"].splitlines(), *headers["Description"].splitlines()]
    assert max(map(len, lines)) <= 80


def test_changelog_has_the_version_and_the_time_of_the_commit() -> None:
    (entry,) = Changelog(VERSION.changelog())
    assert str(entry.version) == VERSION.package
    assert entry.package == "linux-kloc"
    assert entry.date == "Sat, 28 Nov 2026 10:37:23 +0000"
    assert VERSION.series in VERSION.changelog()


def test_time_of_the_build_is_that_of_the_commit() -> None:
    environment = VERSION.environment()
    assert environment["SOURCE_DATE_EPOCH"] == "1795862243"
    assert environment["KBUILD_BUILD_TIMESTAMP"] == "Sat Nov 28 10:37:23 UTC 2026"
    # debian/rules gives make the part of the packages' version behind the last "-".
    assert VERSION.package.endswith(f"-{environment['KBUILD_BUILD_VERSION']}")


def test_unknown_flavour_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown flavour 'cloud'"):
        Build("cloud")


class FakeTree:
    """A source tree whose objects are in a directory of the test."""

    def __init__(self, directory: Path) -> None:
        self.source = directory / "source"
        self.directory = directory

    def objects(self, flavour: str) -> Path:
        path = self.directory / flavour
        path.mkdir(parents=True, exist_ok=True)
        return path

    def update(self) -> None:
        pass


class FakeMake:
    """A build whose steps leave files, and in which those of `failing` fail."""

    failing: str | None = None
    steps: list[str]

    def __init__(self, _tools: Any, _source: Path, objects: Path, **options: Any) -> None:
        self.objects = objects
        self.environment = options["environment"]
        (self.above,) = cast(list[Bind], options["binds"])

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if self.failing == name:
            raise KlocError(f"{name} failed")

    def configure_over(self, base: str, fragments: tuple[str, ...]) -> None:
        assert fragments == ("kloc.config", "server.config") and base == "CONFIG_A=y\n"
        self._step("configure")

    def compile(self, target: str, first_steps: int) -> None:
        assert target == "all" and first_steps > 0
        key = self.objects / kernel_package.SIGNING_KEY
        key.parent.mkdir(exist_ok=True)
        key.touch()
        (self.objects / "vmlinux").touch()
        self._step("compile")

    def package(self, files: Path, _: int) -> None:
        assert files == self.above.target == kernel_package.BUILD
        self._step("package")
        for name in VERSION.files:
            (self.above.source / name).write_text((self.above.source / "control").read_text())


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty_cache: Path) -> type[FakeMake]:
    """A build in which nothing is compiled."""

    class Made(FakeMake):
        pass

    Made.steps = []
    linux = tmp_path / "linux" / "source"
    linux.mkdir(parents=True)
    root = Root(tmp_path, "root")
    monkeypatch.setattr(kernel_package.root, "tool_root", lambda: root)
    monkeypatch.setattr(kernel_package, "packaging_root", lambda: root)
    monkeypatch.setattr(kernel_package, "unpatched_source", lambda: linux)
    monkeypatch.setattr(kernel_package, "WorkTree", lambda *_: FakeTree(tmp_path))
    monkeypatch.setattr(kernel_package, "Make", Made)
    monkeypatch.setattr(kernel_package.space, "check_package", lambda _: None)
    monkeypatch.setattr(Build, "version", VERSION)
    monkeypatch.setattr(Build, "config", "CONFIG_A=y\n")
    return Made


def test_packages_are_built_once_and_copied(made: type[FakeMake], tmp_path: Path) -> None:
    for name in ("one", "two/new"):
        built = kernel_package.build("cloud-amd64", tmp_path / name)
        assert built.image == tmp_path / name / VERSION.files[0]
        assert built.headers.read_text() == VERSION.control()
    assert made.steps == ["configure", "compile", "package"]


def test_a_plan_names_the_packages_and_builds_nothing(made: type[FakeMake], tmp_path: Path) -> None:
    planned = kernel_package.planned("cloud-amd64", tmp_path / "new")
    assert not made.steps and not (tmp_path / "new").exists()
    assert planned == kernel_package.build("cloud-amd64", tmp_path / "new")


@pytest.mark.usefixtures("empty_cache")
def test_without_debians_configuration_there_is_no_plan(tmp_path: Path) -> None:
    assert kernel_package.planned("amd64", tmp_path) is None
    assert not cache.entries("root")


def test_the_key_that_signed_the_modules_is_deleted_and_objects_stay(
    made: type[FakeMake], tmp_path: Path
) -> None:
    kernel_package.build("cloud-amd64", tmp_path)
    objects = tmp_path / "cloud-amd64"
    assert (objects / "vmlinux").exists()
    assert not (objects / kernel_package.SIGNING_KEY).exists()


def test_a_build_that_failed_goes_on_with_its_objects(made: type[FakeMake], tmp_path: Path) -> None:
    made.failing = "package"
    with pytest.raises(KlocError, match="package failed"):
        kernel_package.build("cloud-amd64", tmp_path)
    objects = tmp_path / "cloud-amd64"
    assert (objects / "vmlinux").exists()
    assert not list(tmp_path.glob("*.deb"))
    # With another key, all modules would have to be signed again.
    assert (objects / kernel_package.SIGNING_KEY).exists()
    made.failing = None
    assert kernel_package.build("cloud-amd64", tmp_path).image.exists()
    assert not cache.entries("scratch")


def test_directory_that_cannot_be_written_is_refused_before_the_build(
    made: type[FakeMake], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KlocError, match=r"cannot create .*file/below: Not a directory"):
        kernel_package.build("cloud-amd64", tmp_path / "file" / "below")
    monkeypatch.setattr(kernel_package.os, "access", lambda *_: False)
    with pytest.raises(KlocError, match=f"cannot write to {tmp_path}"):
        kernel_package.build("cloud-amd64", tmp_path)
    assert not made.steps


def sorted_by(command: str, names: list[str]) -> list[str]:
    """Return names as a command that sorts lines orders them."""
    done = subprocess.run(command.split(), input="\n".join(names), capture_output=True, text=True)
    return done.stdout.split()


def test_boot_loaders_take_it_for_newer_than_debians_kernel_of_the_same_version() -> None:
    """grub-mkconfig sorts the names of kernels by version."""
    debian = "6.12.118+deb13-cloud-amd64"
    newer = "6.12.119+deb13-cloud-amd64"
    names = [newer, VERSION.release, debian, "6.12.117+deb13-cloud-amd64"]
    expected = ["6.12.117+deb13-cloud-amd64", debian, VERSION.release, newer]
    assert sorted_by("sort --version-sort", names) == expected
