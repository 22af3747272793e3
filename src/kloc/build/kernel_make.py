# SPDX-License-Identifier: GPL-2.0
"""Configures and compiles a kernel tree in the tool root, incrementally and with ccache.

Object directories stay in the cache. Make decides by file times, so a file keeps its time unless
its content changes.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError, disk_full
from kloc.base.files import write_text
from kloc.build.kernel_source import KERNEL, SOURCE
from kloc.build.root import Bind, Root

OBJECTS = Path("/build/objects")
CONFIG = Path("/build/config")
CCACHE = Path("/build/ccache")
"""Paths inside the root, the same for every checkout and host."""

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
    # Without it, ccache runs the preprocessor before the compiler does, for a third of the time.
    "CCACHE_DEPEND": "1",
}

STEPS = "steps"
"""The file with the count of lines that make printed in the last build."""

FIRST_STEPS = 2400
"""About how many lines make prints when it compiles everything; later builds use the last count."""

TAKEN_OVER_STEPS = 100
"""The same for a configuration that has taken over the objects of a similar one."""

QUOTED_LINES = 10
"""How many lines of make's output an error quotes."""


class Make:
    """The kernel's own build, with one source tree and one object directory.

    `environment` has variables in addition to ENVIRONMENT, or in place of some of it. `binds` are
    mounted before the directories of the build, which may be below them.
    """

    def __init__(
        self,
        tools: Root,
        source: Path,
        objects: Path,
        *,
        environment: Mapping[str, str] | None = None,
        binds: Sequence[Bind] = (),
    ) -> None:
        self.tools = tools
        self.objects = objects
        self.environment = {**ENVIRONMENT, "ARCH": "x86", "CCACHE_NAMESPACE": _headers(tools)}
        self.environment |= environment or {}
        self.log = objects.with_suffix(".log")
        self._reconfigured = True
        ccache = cache.directory() / "ccache"
        ccache.mkdir(exist_ok=True)
        self.binds = [
            *binds,
            Bind(source, SOURCE),
            Bind(objects, OBJECTS),
            Bind(KERNEL / "config", CONFIG),
            Bind(ccache, CCACHE),
        ]

    def take_over(self, other: Path) -> None:
        """Begin with the objects of another configuration, if there are none yet.

        make knows which settings each file depends on, and compiles those again that differ in one.
        """
        if any(self.objects.iterdir()) or not (other / "vmlinux").exists():
            return
        draft = self.objects.with_name(f"{self.objects.name}.draft")
        cache.remove(draft)
        with progress.estimated("copying the kernel's objects", seconds=5):
            subprocess.run(["cp", "--archive", "--reflink=auto", other, draft], check=True)
        write_text(draft / STEPS, str(TAKEN_OVER_STEPS))
        self.objects.rmdir()
        draft.rename(self.objects)

    def configure(self, fragments: Sequence[str]) -> None:
        """Make .config from fragments of kernel/config.

        Raises KlocError if Kconfig does not give a symbol the value that a fragment sets.
        """
        before = self._config()
        merge = ["scripts/kconfig/merge_config.sh", "-n", "-O", str(OBJECTS)]
        merge += [str(CONFIG / name) for name in fragments]
        output = self.tools.run(merge, binds=self.binds, cwd=SOURCE, env=self.environment)
        _check_accepted(re.findall(r"Requested value: +(CONFIG_.*)\nActual value: *(.*)", output))
        self._reconfigured = not self._keep_time(before)

    def configure_over(self, base: str, fragments: Sequence[str]) -> None:
        """Make .config from a complete configuration, `base`, and fragments of kernel/config.

        Raises KlocError if Kconfig does not give a symbol the value that a fragment sets. It may
        give symbols of `base` other values: of those that depend on what fragments set.
        merge_config.sh would start some programs for each symbol, of which there are thousands.
        """
        before = self._config()
        texts = [(KERNEL / "config" / name).read_text() for name in fragments]
        # Of several lines with a symbol, Kconfig takes the last one.
        write_text(self.objects / ".config", "\n".join([base, *texts]))
        make = ["make", f"O={OBJECTS}", "olddefconfig"]
        self.tools.run(make, binds=self.binds, cwd=SOURCE, env=self.environment)
        wanted = {symbol: value for text in texts for symbol, value in settings(text).items()}
        got = settings((self.objects / ".config").read_text())
        _check_accepted(
            (f"CONFIG_{symbol}={value}", got.get(symbol, ""))
            for symbol, value in wanted.items()
            if got.get(symbol, "n") != value
        )
        self._reconfigured = not self._keep_time(before)

    def compile(self, *targets: str, first_steps: int = FIRST_STEPS) -> None:
        """Make the targets, bzImage by default. Raises KlocError, with messages, if that fails.

        `first_steps` is about how many lines make prints when it compiles everything.
        """
        expected = self.expected_steps(first_steps)
        completed = self._make(targets or ("bzImage",), "building the kernel", expected)
        if expected:
            write_text(self.objects / STEPS, f"{completed:.0f}")

    def package(self, files: Path, expected: int) -> None:
        """Make Debian packages of what is compiled, in the directory above that of the objects.

        The directory `files`, inside the root, has the control and changelog of the packages: those
        that the kernel writes say "custom built", and have the current time. `expected` is about
        how many lines make prints. Raises KlocError, with messages, if that fails.
        """
        copy = f"cp {files}/control {files}/changelog debian/"
        # Of what is said to be essential, the kernel needs no C++ compiler.
        flags = f"--no-check-builddeps --hook-preinit='{copy}'"
        targets = ("bindeb-pkg", f"DPKG_FLAGS={flags}")
        self._make(targets, "making the kernel's packages", expected)

    def _make(self, targets: Sequence[str], what: str, expected: int | None) -> float:
        """Make targets while progress shows `what`; return how many lines make has printed."""
        argv = ["make", f"O={OBJECTS}", f"-j{os.cpu_count()}", *targets]
        with progress.shown(what, expected) as steps, self.log.open("w") as log:

            def on_line(line: str) -> None:
                log.write(line)
                steps.advance()

            status = self.tools.follow(
                argv, on_line, binds=self.binds, cwd=SOURCE, env=self.environment
            )
        if status != 0:
            raise self._error()
        return steps.completed

    def warnings(self, paths: Sequence[Path]) -> list[str]:
        """Compile the C files among `paths` of the tree; return the warnings about `paths`."""
        sources = [path for path in paths if path.suffix == ".c"]
        objects = [str(path.with_suffix(".o")) for path in sources]
        argv = ["make", f"O={OBJECTS}", f"-j{os.cpu_count()}", "W=1", "C=2", *objects]
        output: list[str] = []
        status = self.tools.follow(
            argv, output.append, binds=self.binds, cwd=SOURCE, env=self.environment
        )
        if status != 0:
            raise KlocError("".join(output))
        return [
            line
            for line in output
            if re.search(r"\b(warning|error):", line) and any(str(path) in line for path in paths)
        ]

    def expected_steps(self, first_steps: int = FIRST_STEPS) -> int | None:
        """Return about how many lines make will print; None if only few files have changed."""
        if (self.objects / "vmlinux").exists() and not self._reconfigured:
            return None
        try:
            return int((self.objects / STEPS).read_text())
        except (FileNotFoundError, ValueError):
            return first_steps

    def _config(self) -> tuple[bytes, int] | None:
        """Return the content of .config and its time in nanoseconds; None if it is missing."""
        path = self.objects / ".config"
        return (path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None

    def _keep_time(self, before: tuple[bytes, int] | None) -> bool:
        """Restore the time of .config if its content is as `before`; return whether it is."""
        after = self._config()
        if not before or not after or before[0] != after[0]:
            return False
        os.utime(self.objects / ".config", ns=(before[1], before[1]))
        return True

    def _error(self) -> KlocError:
        output = self.log.read_text()
        if full := disk_full(output, "the kernel's objects", self.objects):
            return full
        lines = output.splitlines()
        errors = [
            line for line in lines if re.search(r"\berror:|undefined reference|\bError \d", line)
        ]
        quoted = "\n".join(errors[:QUOTED_LINES] or lines[-QUOTED_LINES:])
        return KlocError(
            f"the kernel does not build:\n{quoted}", hint=f"see the complete log: {self.log}"
        )


def settings(text: str) -> dict[str, str]:
    """Return the value of each symbol of a configuration, n if it is not set; the last one wins."""
    lines = re.findall(r"^(?:CONFIG_(\w+)=(.*)|# CONFIG_(\w+) is not set)$", text, re.MULTILINE)
    return {name or unset: value if name else "n" for name, value, unset in lines}


def _check_accepted(refused: Iterable[tuple[str, str]]) -> None:
    """Raise KlocError if there are settings, with what Kconfig made of each, that it refused."""
    lines = [f"  {asked}   (is {got or 'not set'})" for asked, got in refused]
    if lines:
        raise KlocError(
            "Kconfig rejects these settings of kernel/config:\n" + "\n".join(lines),
            hint="set the options that they depend on, or remove them",
        )


def _headers(tools: Root) -> str:
    """Return a hash of the packages with C headers in the root.

    The kernel's own tools include them, and -MMD, from which ccache knows what a file includes,
    does not list them.
    """
    packages = sorted(tools.packages().items())
    return cache.key(*(f"{name} {version}" for name, version in packages if "-dev" in name))
