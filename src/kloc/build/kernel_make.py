# SPDX-License-Identifier: GPL-2.0
"""Builds the machine's kernel: Debian's source, with kernel/files, kernel/patches, kernel/config.

All of it is compiled in the tool root at fixed paths, so that neither the host nor where the
checkout lies shows in the result. The work tree stays in the cache and is brought up to date file
by file, so that make compiles what changed and no more.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kloc.base import cache, progress
from kloc.base.errors import KlocError
from kloc.build.kernel_source import KERNEL, SOURCE, write_text
from kloc.build.root import Bind, Root

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


class Make:
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
        ccache = cache.directory() / "ccache"
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
            write_text(self.objects / "steps", f"{steps.completed:.0f}")

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
