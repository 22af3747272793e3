# SPDX-License-Identifier: GPL-2.0
"""Builds Debian packages of a kernel for servers: linux-image and linux-headers.

The configuration is Debian's own, of the package linux-config-6.12, with kernel/config/kloc.config
and kernel/config/server.config on top. The kernel's target bindeb-pkg makes the packages.

That takes 45 minutes or more. So the source tree, the objects and the lock are apart from those of
the machine's kernels, which can be built meanwhile; and a build that was stopped goes on with its
objects.
"""

from __future__ import annotations

import lzma
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cached_property
from pathlib import Path

from kloc.base import cache, checkout, paths
from kloc.base.errors import HINTS, KlocError, unknown
from kloc.build import apt_sources, bootstrap, pins, root, space
from kloc.build.kernel_make import Make
from kloc.build.kernel_source import KERNEL, WorkTree, series_files, unpatched_source
from kloc.build.root import Bind, Root

PACKAGES = (
    "bc",
    "bison",
    "ccache",
    "cpio",
    "debhelper",
    "dpkg-dev",
    "flex",
    "gcc",
    "kmod",
    "libc6-dev",
    "libelf-dev",
    "libssl-dev",
    "make",
    "openssl",
    "perl",
    "python3-minimal",
    "rsync",
    "xz-utils",
    "zstd",
)
"""What compiles Debian's configuration and makes packages.

The tool root has neither debhelper, rsync nor zstd. With them it would be another root, and all
kernels, QEMUs and guests would be built again.
"""

FLAVOURS = ("cloud-amd64", "amd64")
"""Debian's configurations: for virtual machines of cloud providers, and for all hardware."""

DEBIAN_CONFIG = "usr/src/linux-config-6.12/config.amd64_none_{flavour}.xz"
"""Where the tool root has a configuration of Debian's."""

FRAGMENTS = ("kloc.config", "server.config")
"""The fragments of kernel/config that are merged into Debian's configuration."""

TREE = "package"
"""The name of the source tree, next to that of the machine's kernels."""

BUILD = Path("/build")
"""Where the root has what the build writes besides objects. Packages are written there."""

SIGNING_KEY = Path("certs/signing_key.pem")
"""The key that modules were signed with, among the objects."""

FIRST_STEPS = {"cloud-amd64": 8_100, "amd64": 30_000}
"""About how many lines make prints when it compiles everything."""

PACKAGE_STEPS = {"cloud-amd64": 4_000, "amd64": 15_000}
"""The same when it makes the packages: it strips, signs and compresses each module."""

MAINTAINER = "kloc maintainers <maintainers@kloc.example>"

CONTROL = """\
Source: linux-kloc
Section: kernel
Priority: optional
Maintainer: {maintainer}
Rules-Requires-Root: no
Build-Depends: debhelper-compat (= 12)
Standards-Version: 4.7.2

Package: linux-image-{release}
Architecture: amd64
Depends: kmod, initramfs-tools | linux-initramfs-tool
Description: Linux {upstream} with policies of memory tiers and contexts of files
 The kernel of Debian's linux-source-6.12 {debian}, in Debian's
 configuration {flavour}, with kloc's patches: policies that place and move
 page cache and kernel objects on servers with memory of several speeds.
 .
 The kernel is not signed for Secure Boot. It cannot be a Xen PV guest, and has
 no debug information.

Package: linux-headers-{release}
Architecture: amd64
Depends: libc6 (>= 2.38), libelf1t64, libssl3t64
Recommends: gcc, make
Description: headers to build modules for Linux {release}
 What dkms and other builds of modules need for the kernel in the package
 linux-image-{release}.
 Its programs were built on Debian 13, and need its C library.
"""
"""The control file of the packages. The names of packages have the release, as Debian's have."""

CHANGELOG = """\
linux-kloc ({version}) trixie; urgency=medium

  * Linux {debian} of Debian, flavour {flavour}, with the series {series} of kloc.

 -- {maintainer}  {date}
"""


@dataclass(frozen=True)
class Version:
    """What names a kernel: `debian`, the version of Debian's source, `flavour` and `series`.

    `series` is the hash of patches, files and configuration. `time` is when the last commit changed
    them, in seconds since 1970; it orders kernels with the same `debian`.
    """

    debian: str
    flavour: str
    series: str
    time: int

    @property
    def date(self) -> datetime:
        """Return `time` as a date in UTC."""
        return datetime.fromtimestamp(self.time, UTC)

    @property
    def upstream(self) -> str:
        """Return the version of Linux."""
        return self.debian.partition("-")[0]

    @property
    def name(self) -> str:
        """Return the part that tells kloc's kernels apart: kloc20261128.0123abcd."""
        return f"kloc{self.date:%Y%m%d}.{self.series[:8]}"

    @property
    def local(self) -> str:
        """Return what follows Linux's version in `release`."""
        return f"-{self.name}-{self.flavour}"

    @property
    def release(self) -> str:
        """Return what uname -r prints."""
        return self.upstream + self.local

    @property
    def package(self) -> str:
        """Return the packages' version: after Debian's of the same source, before its next one."""
        return f"{self.debian}+{self.name}"

    @property
    def files(self) -> tuple[str, str]:
        """Return the names of the files of both packages."""
        names = (f"linux-image-{self.release}", f"linux-headers-{self.release}")
        image, headers = (f"{name}_{self.package}_amd64.deb" for name in names)
        return image, headers

    def control(self) -> str:
        """Return the control file of the packages."""
        return CONTROL.format(
            maintainer=MAINTAINER,
            release=self.release,
            upstream=self.upstream,
            debian=self.debian,
            flavour=self.flavour,
        )

    def changelog(self) -> str:
        """Return the changelog, from which dpkg takes the version and the time of all files."""
        return CHANGELOG.format(
            maintainer=MAINTAINER,
            version=self.package,
            debian=self.debian,
            flavour=self.flavour,
            series=self.series,
            date=format_datetime(self.date),
        )

    def environment(self) -> dict[str, str]:
        """Return the variables of the kernel's build."""
        return {
            "LOCALVERSION": self.local,
            "KBUILD_BUILD_TIMESTAMP": f"{self.date:%a %b %e %H:%M:%S UTC %Y}",
            # What debian/rules sets it to.
            "KBUILD_BUILD_VERSION": self.package.rpartition("-")[2],
            "SOURCE_DATE_EPOCH": str(self.time),
        }


@dataclass(frozen=True)
class Packages:
    """The packages of a kernel, with what names it."""

    version: Version
    image: Path
    headers: Path

    def described(self) -> dict[str, str]:
        """Return what --json says of them."""
        return {
            "image": str(self.image),
            "headers": str(self.headers),
            "release": self.version.release,
            "version": self.version.package,
            "debian": self.version.debian,
            "flavour": self.version.flavour,
            "series": self.version.series,
        }


class Build:
    """The build of the packages of one flavour."""

    def __init__(self, flavour: str) -> None:
        """Take a flavour's name. Raises UsageError if Debian has no such configuration."""
        if flavour not in FLAVOURS:
            raise unknown("flavour", flavour, FLAVOURS)
        self.flavour = flavour
        self.tools = root.tool_root()

    @cached_property
    def config(self) -> str:
        """Debian's configuration."""
        path = self.tools.path / DEBIAN_CONFIG.format(flavour=self.flavour)
        return lzma.decompress(path.read_bytes()).decode()

    @cached_property
    def version(self) -> Version:
        """What names the kernel. Raises KlocError if kloc is not in a clone with its history."""
        fragments = [KERNEL / "config" / name for name in FRAGMENTS]
        series = cache.key(*series_files(), *fragments, self.config)
        names = [f"kernel/config/{name}" for name in FRAGMENTS]
        names += ["kernel/patches", "kernel/files", ":(exclude)kernel/files/tools"]
        debian = self.tools.versions()["linux-source"]
        time = checkout.changed_at(paths.PROJECT, *names)
        return Version(debian, self.flavour, series, time)

    def packages(self) -> Packages:
        """Return the packages in the cache, built on first use."""
        key = cache.key(packaging_root_key(), self.version.series, self.version.release)
        entry = cache.build("kernel-package", key, self._fill)
        image, headers = (entry / name for name in self.version.files)
        return Packages(self.version, image, headers)

    def configured(self, objects: Path) -> str:
        """Return the kernel's configuration, which is made in the directory `objects`.

        Nothing is compiled. Raises KlocError if Kconfig rejects a setting of FRAGMENTS.
        """
        with self._tree() as tree:
            self._configure(Make(self.tools, tree.source, objects))
        return (objects / ".config").read_text()

    def _fill(self, draft: Path) -> None:
        with self._tree() as tree:
            objects = tree.objects(self.flavour)
            space.check_package(objects)
            self._build(tree.source, objects, draft)
            # Nobody can sign other modules for this kernel.
            (objects / SIGNING_KEY).unlink(missing_ok=True)

    @contextmanager
    def _tree(self) -> Iterator[WorkTree]:
        """Lock the source tree of packages, and bring it up to date."""
        linux = unpatched_source()
        with cache.locked(linux.parent / f"{TREE}.lock", "building the packages of a kernel"):
            tree = WorkTree(self.tools, linux, TREE)
            tree.update()
            yield tree

    def _configure(self, make: Make) -> None:
        make.configure_over(self.config, FRAGMENTS)

    def _build(self, source: Path, objects: Path, draft: Path) -> None:
        """Compile, and write the packages to `draft`."""
        tools, environment = packaging_root(), self.version.environment()
        with cache.scratch("kernel-package") as scratch:
            above = [Bind(scratch, BUILD)]
            make = Make(tools, source, objects, environment=environment, binds=above)
            self._configure(make)
            make.compile("all", first_steps=FIRST_STEPS[self.flavour])
            (scratch / "control").write_text(self.version.control())
            (scratch / "changelog").write_text(self.version.changelog())
            make.package(BUILD, PACKAGE_STEPS[self.flavour])
            for name in self.version.files:
                shutil.move(scratch / name, draft / name)


def build(flavour: str, directory: Path) -> Packages:
    """Build the packages of a flavour, and copy them to `directory`, which is made if missing.

    Raises KlocError if the directory cannot be written, before anything is built; if there is no
    space; or, with the last messages, if the build fails.
    """
    _require_writable(directory)
    built = Build(flavour).packages()
    copies = [directory / path.name for path in (built.image, built.headers)]
    for source, copy in zip((built.image, built.headers), copies, strict=True):
        try:
            shutil.copy(source, copy)
        except OSError as error:
            hint = HINTS.get(error.errno or 0)
            raise KlocError(f"cannot write {copy}: {error.strerror}", hint) from error
    return Packages(built.version, *copies)


def planned(flavour: str, directory: Path) -> Packages | None:
    """Return the packages that `build` would write, without building anything.

    Their names depend on Debian's configuration. Return None if the cache does not have it.
    """
    with cache.dry_run():
        try:
            version = Build(flavour).version
        except FileNotFoundError:
            return None
    return Packages(version, *(directory / name for name in version.files))


def packaging_root() -> Root:
    """Return the root that compiles and packages kernels for servers, made on first use."""
    key = packaging_root_key()
    return Root(cache.build("kernel-packaging", key, _make_root) / "tree", key)


def packaging_root_key() -> str:
    """Return the key of the root's cache entry: Debian's release, packages and versions."""
    return cache.key(apt_sources.SUITE, *PACKAGES, pins.FILE)


def _make_root(draft: Path) -> None:
    root.check_namespaces()
    tar = draft / "root.tar"
    what = "the Debian root that builds kernels for servers"
    bootstrap.bootstrap(what, PACKAGES, tar, seconds=70, pinned=True)
    pins.report("the root that builds kernels", root.record_packages(root.unpack(tar, draft)))


def _require_writable(directory: Path) -> None:
    """Make `directory` if it is missing. Raises KlocError if this process cannot write there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KlocError(
            f"cannot create {directory}: {error.strerror}", "choose another directory"
        ) from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise KlocError(f"cannot write to {directory}", "choose another directory")
