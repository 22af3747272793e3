# SPDX-License-Identifier: GPL-2.0
"""Configures and compiles a kernel tree in the tool root, incrementally and with ccache.

Object directories stay in the cache. Make decides by file times, so a file keeps its time unless
its content changes.
"""

import os
import re
import subprocess
from collections.abc import Sequence
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
    """The kernel's own build of bzImage, with one source tree and one object directory."""

    def __init__(self, tools: Root, source: Path, objects: Path) -> None:
        self.tools = tools
        self.objects = objects
        self.environment = {**ENVIRONMENT, "ARCH": "x86", "CCACHE_NAMESPACE": _headers(tools)}
        self.log = objects.with_suffix(".log")
        self._reconfigured = True
        ccache = cache.directory() / "ccache"
        ccache.mkdir(exist_ok=True)
        self.binds = [
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
        refused = re.findall(r"Requested value: +(CONFIG_.*)\nActual value: *(.*)", output)
        if refused:
            lines = [f"  {asked}   (is {got or 'not set'})" for asked, got in refused]
            raise KlocError(
                "Kconfig rejects these settings of kernel/config:\n" + "\n".join(lines),
                hint="set the options that they depend on, or remove them",
            )
        self._reconfigured = not self._keep_time(before)

    def compile(self) -> None:
        """Make bzImage. Raises KlocError, with the compiler's messages, if that fails."""
        expected = self.expected_steps()
        argv = ["make", f"O={OBJECTS}", f"-j{os.cpu_count()}", "bzImage"]
        with progress.shown("building the kernel", expected) as steps, self.log.open("w") as log:

            def on_line(line: str) -> None:
                log.write(line)
                steps.advance()

            status = self.tools.follow(
                argv, on_line, binds=self.binds, cwd=SOURCE, env=self.environment
            )
        if status != 0:
            raise self._error()
        if expected:
            write_text(self.objects / STEPS, f"{steps.completed:.0f}")

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

    def expected_steps(self) -> int | None:
        """Return about how many lines make will print; None if only few files have changed."""
        if (self.objects / "vmlinux").exists() and not self._reconfigured:
            return None
        try:
            return int((self.objects / STEPS).read_text())
        except (FileNotFoundError, ValueError):
            return FIRST_STEPS

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


def _headers(tools: Root) -> str:
    """Return a hash of the packages with C headers in the root.

    The kernel's own tools include them, and -MMD, from which ccache knows what a file includes,
    does not list them.
    """
    packages = sorted(tools.packages().items())
    return cache.key(*(f"{name} {version}" for name, version in packages if "-dev" in name))
