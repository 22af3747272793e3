# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel: Debian's source, with kernel/files, kernel/patches, kernel/config.

All of it is compiled in the tool root at fixed paths, so that neither the host nor where the
checkout lies shows in the result. The work tree stays in the cache and is brought up to date file
by file, so that make compiles what changed and no more.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc import cache, root, ui
from kloc.errors import KlocError, unknown
from kloc.paths import PROJECT
from kloc.root import Bind, Root

KERNEL = PROJECT / "kernel"
ARCHIVE = Path("usr/src/linux-source-6.12.tar.xz")
"""Debian's kernel source, in the tool root."""

UNPATCHED = "unpatched"
"""The variant that is Debian's source as it is: what ours is compared with."""

VARIANTS = {
    "machine": ("base.config", "kloc.config", "machine.config"),
    "debug": ("base.config", "kloc.config", "machine.config", "debug.config"),
    "base": ("base.config",),
    "kloc": ("base.config", "kloc.config"),
    UNPATCHED: ("base.config",),
}
"""The fragments of kernel/config that each kind of kernel is configured with."""

UM_CONFIG = "um.config"
"""The fragment that the kernel as a program is configured with."""

SOURCE = Path("/build/linux")
OBJECTS = Path("/build/objects")
CONFIG = Path("/build/config")
CCACHE = Path("/build/ccache")
"""Where the root sees what it compiles."""

ENVIRONMENT = {
    "PATH": "/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "kloc",
    "KBUILD_BUILD_HOST": "kloc",
    "KBUILD_BUILD_VERSION": "1",
    "LOCALVERSION": "",
    "CCACHE_DIR": str(CCACHE),
    "CCACHE_MAXSIZE": "3G",
    "CCACHE_COMPILERCHECK": "content",
}

FIRST_STEPS = 2400
"""About how many lines make prints when it compiles all; later builds know it from the last."""

UM_STEPS = 900
"""The same for ARCH=um."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, and the `series` it was made of (see `series`)."""

    bzimage: Path
    vmlinux: Path
    config: Path
    release: str
    series: str


def build(variant: str = "machine") -> Kernel:
    """Return the `variant`'s kernel, built if it is not in the cache.

    A patch that does not apply, a symbol that kernel/config asks for in vain, an error of the
    compiler: KlocError with the end of what was printed.
    """
    if variant not in VARIANTS:
        raise unknown("kernel variant", variant, VARIANTS)
    tools = root.tool_root()
    of = series(variant)
    key = cache.key(tools.key, tools.versions()["linux-source"], of, variant)
    made = cache.build("kernel", key, lambda draft: _build(tools, variant, draft))
    release = (made / "release").read_text().strip()
    return Kernel(made / "bzImage", made / "vmlinux", made / "config", release, of)


def build_um() -> Path:
    """Return the kernel as a program, which prints its unit tests' results and ends.

    It is built for ARCH=um if it is not in the cache; KlocError as for `build`.
    """
    tools = root.tool_root()
    made_of = [KERNEL / "files", *patches(), KERNEL / "config" / UM_CONFIG]
    key = cache.key(tools.key, tools.versions()["linux-source"], *made_of)
    return cache.build("kernel-um", key, lambda draft: _build_um(tools, draft)) / "linux"


def series(variant: str = "machine") -> str:
    """Return the hash of what the `variant`'s kernel is made of beside Debian's source.

    That is our files, patches and configuration; of an unpatched one, its configuration.
    """
    fragments = [KERNEL / "config" / name for name in VARIANTS[variant]]
    if variant == UNPATCHED:
        return cache.key(*fragments)
    return cache.key(KERNEL / "files", *patches(), *fragments)


def patches() -> list[Path]:
    """Return the patches in the order in which they apply."""
    lines = (KERNEL / "patches" / "series").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return [KERNEL / "patches" / name for name in names]


def vanilla() -> Path:
    """Return the folder with Debian's kernel source as it is, unpacked on first use."""
    tools = root.tool_root()
    version = tools.versions()["linux-source"]
    made = cache.build(
        "linux", cache.key(version), lambda draft: unpack(tools.path / ARCHIVE, draft)
    )
    return made / "source"


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the kernel source `archive` as `folder`/source."""
    tree = folder / "source"
    tree.mkdir()
    seen = Path("/build/linux.tar.xz")
    with ui.timed("unpacking the kernel source", seconds=25):
        root.tool_root().run(
            ["tar", "--extract", "--no-same-owner", "--strip-components=1", f"--file={seen}"],
            binds=[Bind(tree, SOURCE), Bind(archive, seen)],
            cwd=SOURCE,
        )


def apply_series(tools: Root, linux: Path, tree: Path) -> None:
    """Put into the empty folder `tree` all files that differ from those in `linux`.

    A new file that Linux has already, a patch that does not apply: KlocError.
    """
    for name in new_files():
        if (linux / name).exists():
            raise KlocError(f"kernel/files/{name} is in Linux already", hint="make it a patch")
        _copy(KERNEL / "files" / name, tree / name)
    for name in _patched_files():
        if (linux / name).exists():
            _copy(linux / name, tree / name)
    for patch in patches():
        try:
            tools.run(
                ["git", "apply", "-"],
                binds=[Bind(tree, SOURCE)],
                cwd=SOURCE,
                stdin=patch.read_text(),
            )
        except KlocError as error:
            raise KlocError(f"{patch.name} does not apply: {error.message}") from error


def new_files() -> list[Path]:
    """Return the files in kernel/files, as paths in the kernel tree."""
    return _files(KERNEL / "files")


def _patched_files() -> set[Path]:
    """Return the files that the patches name, as paths in the kernel tree."""
    names = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
    return {Path(name) for patch in patches() for name in names.findall(patch.read_text())}


def _files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def update_file(source: Path, target: Path) -> None:
    """Make `target` a copy of `source`, which may not be there; leave it alone if it is one."""
    if not source.exists():
        target.unlink(missing_ok=True)
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    """Copy a file with its mode; its time is now, and hard links of `target` stay what they are."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target)


def _write(target: Path, text: str) -> None:
    """Make `target` hold `text`; where that fails, on a full disk say, it stays what it was."""
    draft = target.with_name(f".{target.name}.draft")
    draft.write_text(text)
    draft.rename(target)


class WorkTree:
    """The tree in the cache that is compiled, kept in step with the series.

    It starts as hard links to the vanilla source, and `changed.json` lists what differs from that.
    Without that list nobody knows what the tree is, and it is made anew.
    """

    def __init__(self, tools: Root, linux: Path) -> None:
        """Take the tree that lies beside `linux`, made if it is not there yet."""
        self.tools = tools
        self.linux = linux
        self.folder = linux.parent / "work"
        self.source = self.folder / "source"
        self._changed = self.folder / "changed.json"
        if self._noted() is None:
            cache.remove(self.folder)
            self.folder.mkdir()
            subprocess.run(["cp", "--archive", "--link", linux, self.source], check=True)
            self._note(set())

    def objects(self, variant: str) -> Path:
        """Return the folder for the object files of `variant`."""
        folder = self.folder / f"objects-{variant}"
        folder.mkdir(exist_ok=True)
        return folder

    def update(self) -> None:
        """Make the tree what the series says, writing only files whose content changes."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            staging = Path(name)
            apply_series(self.tools, self.linux, staging)
            before = self._noted() or set()
            wanted = set(_files(staging))
            self._note(before | wanted)
            for path in wanted:
                update_file(staging / path, self.source / path)
            for path in before - wanted:
                update_file(self.linux / path, self.source / path)
            self._note(wanted)

    def _note(self, changed: set[Path]) -> None:
        _write(self._changed, json.dumps(sorted(str(path) for path in changed)))

    def _noted(self) -> set[Path] | None:
        """Return what was noted last; None if nothing was, or it cannot be read."""
        try:
            return {Path(name) for name in json.loads(self._changed.read_text())}
        except (FileNotFoundError, ValueError):
            return None


def warnings() -> list[str]:
    """Return what the compiler at W=1, and sparse, say of the files in kernel/files.

    They are those of the machine's kernel, whose objects are compiled again the next time.
    """
    linux = vanilla()
    with cache.locked(linux.parent / "work.lock", "a kernel"):
        tree = WorkTree(root.tool_root(), linux)
        tree.update()
        make = _Make(tree.tools, tree.source, tree.objects("machine"))
        make.configure(VARIANTS["machine"])
        return make.warnings(_files(KERNEL / "files"))


def _build(tools: Root, variant: str, draft: Path) -> None:
    linux = vanilla()
    with cache.locked(linux.parent / "work.lock", "a kernel"):
        tree = WorkTree(tools, linux)
        source = linux
        if variant != UNPATCHED:
            tree.update()
            source = tree.source
        objects = tree.objects(variant)
        make = _Make(tools, source, objects)
        make.configure(VARIANTS[variant])
        make.compile()
        results = {
            "bzImage": "arch/x86/boot/bzImage",
            "vmlinux": "vmlinux",
            "config": ".config",
            "release": "include/config/kernel.release",
        }
        for name, path in results.items():
            shutil.copy(objects / path, draft / name)


def _build_um(tools: Root, draft: Path) -> None:
    linux = vanilla()
    with cache.locked(linux.parent / "work.lock", "a kernel"):
        tree = WorkTree(tools, linux)
        tree.update()
        objects = tree.objects("um")
        make = _Make(tools, tree.source, objects, arch="um", target="linux", steps=UM_STEPS)
        make.configure([UM_CONFIG])
        make.compile()
        shutil.copy(objects / "linux", draft / "linux")


class _Make:
    """The kernel's own build of `target`, on one source tree and one folder of objects."""

    def __init__(
        self,
        tools: Root,
        source: Path,
        objects: Path,
        *,
        arch: str = "x86",
        target: str = "bzImage",
        steps: int = FIRST_STEPS,
    ) -> None:
        self.tools = tools
        self.objects = objects
        self.target = target
        self.environment = {**ENVIRONMENT, "ARCH": arch}
        self._first_steps = steps
        self.log = objects.with_suffix(".log")
        self._reconfigured = True
        ccache = cache.folder() / "ccache"
        ccache.mkdir(exist_ok=True)
        self.binds = [
            Bind(source, SOURCE),
            Bind(objects, OBJECTS),
            Bind(KERNEL / "config", CONFIG),
            Bind(ccache, CCACHE),
        ]

    def configure(self, fragments: Sequence[str]) -> None:
        """Make .config; a symbol that a fragment sets and Kconfig does not: KlocError."""
        before = self._config()
        merge = ["scripts/kconfig/merge_config.sh", "-n", "-O", str(OBJECTS)]
        merge += [str(CONFIG / name) for name in fragments]
        output = self.tools.run(merge, binds=self.binds, cwd=SOURCE, env=self.environment)
        refused = re.findall(r"Requested value: +(CONFIG_.*)\nActual value: *(.*)", output)
        if refused:
            lines = [f"  {asked}   (it is: {got or 'not there'})" for asked, got in refused]
            raise KlocError("kernel/config asks for what Kconfig refuses:\n" + "\n".join(lines))
        self._reconfigured = not self._keep_time(before)

    def compile(self) -> None:
        """Make bzImage and vmlinux; an error of the compiler: KlocError with what it said."""
        expected = self._steps()
        argv = ["make", f"O={OBJECTS}", f"-j{os.cpu_count()}", self.target]
        with ui.progress("building the kernel", expected) as progress, self.log.open("w") as log:

            def on_line(line: str) -> None:
                log.write(line)
                progress.advance()

            status = self.tools.follow(
                argv, on_line, binds=self.binds, cwd=SOURCE, env=self.environment
            )
        if status != 0:
            raise self._error()
        if expected:
            _write(self.objects / "steps", f"{progress.completed:.0f}")

    def warnings(self, paths: Sequence[Path]) -> list[str]:
        """Compile `paths` of the tree, as far as they are C; return the lines that warn of them."""
        sources = [path for path in paths if path.suffix == ".c"]
        objects = [str(path.with_suffix(".o")) for path in sources]
        argv = ["make", f"O={OBJECTS}", f"-j{os.cpu_count()}", "W=1", "C=2", *objects]
        said: list[str] = []
        status = self.tools.follow(
            argv, said.append, binds=self.binds, cwd=SOURCE, env=self.environment
        )
        if status != 0:
            raise KlocError("".join(said))
        return [
            line
            for line in said
            if re.search(r"\b(warning|error):", line) and any(str(path) in line for path in paths)
        ]

    def _config(self) -> tuple[bytes, int] | None:
        """Return what .config holds and when it was written, or None."""
        path = self.objects / ".config"
        return (path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None

    def _keep_time(self, before: tuple[bytes, int] | None) -> bool:
        """Give .config the time that it had `before` if it still holds the same; say if so."""
        after = self._config()
        if not before or not after or before[0] != after[0]:
            return False
        os.utime(self.objects / ".config", ns=(before[1], before[1]))
        return True

    def _steps(self) -> int | None:
        """Return about how many lines make will print; None where few files have changed."""
        if (self.objects / "vmlinux").exists() and not self._reconfigured:
            return None
        try:
            return int((self.objects / "steps").read_text())
        except (FileNotFoundError, ValueError):
            return self._first_steps

    def _error(self) -> KlocError:
        lines = self.log.read_text().splitlines()
        telling = [
            line for line in lines if re.search(r"\berror:|undefined reference|\bError \d", line)
        ]
        quoted = "\n".join(telling[:10] or lines[-10:])
        return KlocError(f"the kernel does not build:\n{quoted}", hint=f"all of it: {self.log}")
