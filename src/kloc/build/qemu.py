# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's QEMU from Debian's source package and machine/qemu.

It runs in the tool root, which has its libraries and firmware. See machine/qemu/README.md for what
the patches are for.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kloc.base import cache, paths, progress
from kloc.base.errors import KlocError, disk_full
from kloc.build import root
from kloc.build.root import QEMU_SOURCE, Bind, Root

MACHINE = paths.shipped("machine", "qemu")
DEVICES = MACHINE / "devices.mak"
"""The devices that QEMU is built with."""

PROGRAM, HEADER = "qemu-system-x86_64", "qemu-plugin.h"
"""The files of an entry: QEMU, and the interface of its plugins."""

BUILD = Path("/build")
SOURCE, OBJECTS, CCACHE = BUILD / "qemu", BUILD / "objects", BUILD / "ccache"
"""Paths inside the root, the same for every checkout and host."""

ENVIRONMENT = {
    "CC": "ccache gcc",
    "CCACHE_DIR": str(CCACHE),
    "CCACHE_MAXSIZE": "3G",
    "CCACHE_COMPILERCHECK": "content",
    "CCACHE_DEPEND": "1",
}

CONFIGURE = (
    *("--target-list=x86_64-softmmu", "--enable-system", "--enable-tcg", "--enable-plugins"),
    *("--without-default-features", "--without-default-devices", "--with-devices-x86_64=kloc"),
    *("--disable-fdt", "--disable-tools", "--disable-docs", "--disable-download"),
    *("--disable-debug-info", "--disable-install-blobs"),
    "--firmwarepath=/usr/share/seabios:/usr/share/qemu",
)
"""Arguments of QEMU's configure: only what the machine has."""

PREPARE_SECONDS = 30
"""About how long it takes to unpack, patch and configure QEMU."""

STEPS = 1310
"""About how many lines ninja prints when it compiles everything."""

QUOTED_LINES = 10
"""How many lines of ninja's output an error quotes."""


@dataclass(frozen=True)
class Qemu:
    """QEMU in the directory `path`; `key` identifies its contents.

    `version` names Debian's version and our series, as in `10.0.13+ds-0+deb13u1+kloc.0123456789`.
    """

    path: Path
    version: str
    key: str

    @property
    def program(self) -> Path:
        """The program, to be executed in the tool root with `binds`."""
        return self.path / PROGRAM

    @property
    def header(self) -> Path:
        """The declaration of the plugins' interface; it includes GLib's header."""
        return self.path / HEADER

    @property
    def binds(self) -> list[Path]:
        """The directories that the tool root must have for `program`."""
        return [self.path]


def build() -> Qemu:
    """Return QEMU, built on first use (five minutes).

    Raises KlocError, with the last lines of output, if a patch does not apply or if the compiler
    fails.
    """
    tools = root.tool_root()
    debian = tools.versions()["qemu"]
    series = series_hash()
    key = cache.key(tools.key, debian, series, *CONFIGURE)
    version = f"{debian.partition(':')[2] or debian}+kloc.{series[:10]}"
    entry = cache.build("qemu", key, lambda draft: _make(tools, version, draft))
    return Qemu(entry, version, key)


def patches() -> list[Path]:
    """Return the patches of the series, in the order in which they apply."""
    lines = (MACHINE / "patches" / "series").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return [MACHINE / "patches" / name for name in names]


def series_hash() -> str:
    """Return the hash of the patches and the list of devices."""
    return cache.key(*patches(), DEVICES)


def _make(tools: Root, version: str, draft: Path) -> None:
    tree = draft / "tree"
    tree.mkdir()
    ccache = cache.directory() / "ccache"
    ccache.mkdir(exist_ok=True)
    binds = [Bind(tree, BUILD), Bind(ccache, CCACHE)]
    with progress.estimated("configuring QEMU", PREPARE_SECONDS):
        unpack(tools, tree)
        _configure(tools, binds, tree, version)
    _compile(tools, binds, draft.with_suffix(".log"))
    tools.run(["strip", str(OBJECTS / PROGRAM)], binds=binds)
    shutil.copy(tree / "objects" / PROGRAM, draft / PROGRAM)
    shutil.copy(tree / "qemu" / "include" / "qemu" / HEADER, draft / HEADER)
    cache.remove(tree)


def unpack(tools: Root, directory: Path) -> None:
    """Unpack Debian's source to `directory`/qemu and apply our series.

    Raises KlocError if the root has no source, or if a patch does not apply.
    """
    binds = [Bind(directory, BUILD)]
    descriptions = sorted((tools.path / QEMU_SOURCE).glob("*.dsc"))
    if len(descriptions) != 1:
        raise KlocError(
            f"the tool root {tools.path} has {len(descriptions)} source packages of QEMU, not one",
            hint="delete that directory, so that kloc makes the root again",
        )
    description = Path("/") / QEMU_SOURCE / descriptions[0].name
    # The root's apt has checked the signature of the archive that the files come from.
    tools.run(["dpkg-source", "--no-check", "-x", str(description), str(SOURCE)], binds=binds)
    for patch in patches():
        try:
            tools.run(
                ["patch", "--strip=1", "--batch", "--forward", "--fuzz=0"],
                binds=binds,
                cwd=SOURCE,
                stdin=patch.read_text(),
            )
        except KlocError as error:
            raise KlocError(
                f"{patch.name} does not apply to Debian's QEMU: {error.message}",
                hint=f"rebase the series: see {MACHINE}/README.md",
            ) from error


def _configure(tools: Root, binds: list[Bind], tree: Path, version: str) -> None:
    devices = tree / "qemu" / "configs" / "devices" / "x86_64-softmmu" / "kloc.mak"
    shutil.copy(DEVICES, devices)
    (tree / "objects").mkdir()
    tools.run(
        [str(SOURCE / "configure"), *CONFIGURE, f"--with-pkgversion={version}"],
        binds=binds,
        cwd=OBJECTS,
        env=ENVIRONMENT,
    )


def _compile(tools: Root, binds: list[Bind], log: Path) -> None:
    """Compile QEMU. Write ninja's output to `log`, which is kept if that fails."""
    argv = ["ninja", f"-j{os.cpu_count()}", PROGRAM]
    lines: list[str] = []
    with progress.shown("building QEMU", STEPS) as steps, log.open("w") as file:

        def on_line(line: str) -> None:
            file.write(line)
            lines.append(line)
            steps.advance()

        status = tools.follow(argv, on_line, binds=binds, cwd=OBJECTS, env=ENVIRONMENT)
    if status != 0:
        if full := disk_full("".join(lines), "QEMU's objects", log.parent):
            raise full
        errors = [line for line in lines if re.search(r"\berror:|undefined reference", line)]
        quoted = "".join(errors[:QUOTED_LINES] or lines[-QUOTED_LINES:]).rstrip()
        raise KlocError(f"QEMU does not build:\n{quoted}", hint=f"see the complete log: {log}")
    log.unlink()
