# SPDX-License-Identifier: GPL-2.0
"""libkloc: it builds as it is shipped, and does what kloc.h says, under sanitizers."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build.root import Bind, Root

SOURCES, TEST, OUT = Path("/sources"), Path("/test"), Path("/out")
"""Where the tool root sees them."""

NO_LIMIT = (1 << 64) - 1
SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


class Library:
    """The library, built over a folder of files instead of the kernel's, and a caller of it."""

    def __init__(self, tools: Root, folder: Path) -> None:
        self.root, self._tools, self._out = folder / "root", tools, folder / "out"
        self._out.mkdir()
        (self.root / "sys/kernel/mm/kloc/node0").mkdir(parents=True)
        (self.root / "sys/fs/cgroup/a/b c").mkdir(parents=True)
        (self.root / "proc/self").mkdir(parents=True)
        self.cgroup("1:cpu:/elsewhere\n0::/a/b c\n")
        flags = [f"CFLAGS={SANITIZED}", f'CPPFLAGS=-DKLOC_ROOT=\\"{self.root}\\"']
        self._run(["make", "-C", str(SOURCES), f"OUT={OUT}", *flags])
        # The caller has a prctl() of its own, which the library is to find.
        warnings = ["-Wall", "-Wextra", "-Werror", "-rdynamic"]
        source = str(TEST / "libkloc_test.c")
        run_path = [f"-L{OUT}", "-lkloc", f"-Wl,-rpath,{OUT}"]
        paths = [f"-I{SOURCES}", "-o", str(OUT / "caller"), source, *run_path]
        self._run(["gcc", *SANITIZED.split(), *warnings, *paths])

    @property
    def node(self) -> Path:
        return self.root / "sys/kernel/mm/kloc/node0/max_kb"

    @property
    def group(self) -> Path:
        return self.root / "sys/fs/cgroup/a/b c/memory.kloc.max"

    def cgroup(self, text: str) -> None:
        """Put the caller in a cgroup."""
        (self.root / "proc/self/cgroup").write_text(text)

    def call(self, *arguments: object, **environment: str) -> list[str]:
        """Return the lines that the caller prints."""
        argv = [str(OUT / "caller"), *map(str, arguments)]
        return self._run(argv, environment).splitlines()

    def _run(self, argv: list[str], environment: dict[str, str] | None = None) -> str:
        binds = [Bind(PROJECT / "src" / "libkloc", SOURCES), Bind(PROJECT / "tests/builds", TEST)]
        binds += [Bind(self._out, OUT), Bind(self.root, self.root)]
        return self._tools.run(argv, binds=binds, env=environment)


@pytest.fixture(scope="module")
def built(tools: Root, tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tools, tmp_path_factory.mktemp("libkloc"))


@pytest.fixture
def library(built: Library) -> Library:
    """The library, with its files as they were."""
    built.cgroup("1:cpu:/elsewhere\n0::/a/b c\n")
    for path in (built.node, built.group):
        path.write_text("")
    return built


def test_a_process_is_chosen(library: Library) -> None:
    assert library.call("enable", 0, 1) == ["prctl 0x4b4c4f43 1 0 1 0", "0 0"]
    assert library.call("enable", 77, 0) == ["prctl 0x4b4c4f43 1 77 0 0", "0 0"]


@pytest.mark.parametrize(("pid", "on"), [(-1, 1), (1, 2), (1, -1)])
def test_wrong_arguments_do_not_reach_the_kernel(pid: int, on: int, library: Library) -> None:
    assert library.call("enable", pid, on) == [f"-1 {errno.EINVAL}"]


@pytest.mark.parametrize(
    ("error", "told"),
    [(errno.EINVAL, errno.ENOSYS), (errno.ESRCH, errno.ESRCH), (errno.EPERM, errno.EPERM)],
)
def test_errors_of_the_kernel(error: int, told: int, library: Library) -> None:
    assert library.call("enable", 1, 1, PRCTL_ERROR=str(error))[-1] == f"-1 {told}"


@pytest.mark.parametrize(
    ("size", "cgroup", "node"),
    [(0, "0", "0"), (1 << 20, "1048576", "1024"), (1025, "1025", "1"), (NO_LIMIT, "max", "max")],
)
def test_fast_memory_is_limited(size: int, cgroup: str, node: str, library: Library) -> None:
    assert library.call("memsize", -1, size) == ["0 0"]
    assert library.group.read_text().split() == [cgroup]
    assert library.call("memsize", 0, size) == ["0 0"]
    assert library.node.read_text().split() == [node]


def test_a_limit_of_something_that_is_not_there(library: Library) -> None:
    assert library.call("memsize", -2, 1) == [f"-1 {errno.EINVAL}"]
    assert library.call("memsize", 1, 1) == [f"-1 {errno.ENOENT}"]
    for group in ("0::/\n", "0::/gone\n", "1:cpu:/only\n", "", "0::/" + "x" * 5000 + "\n"):
        library.cgroup(group)
        assert library.call("memsize", -1, 1) == [f"-1 {errno.ENOENT}"], group
    assert library.group.read_text() == library.node.read_text() == ""


def test_a_kernel_without_contexts(library: Library) -> None:
    settings = library.root / "sys/kernel/mm/kloc"
    aside = settings.rename(settings.with_name("aside"))
    try:
        assert library.call("memsize", 0, 1) == [f"-1 {errno.ENOSYS}"]
    finally:
        aside.rename(settings)


PRELOADED = {"LD_PRELOAD": "/out/libkloc.so"}
# The sanitizers want to be first.
FIRST = {"ASAN_OPTIONS": "verify_asan_link_order=0"}


def test_it_is_enabled_where_it_is_preloaded(library: Library) -> None:
    assert library.call("nothing") == []
    assert library.call("nothing", **PRELOADED, **FIRST) == ["prctl 0x4b4c4f43 1 0 1 0"]


@pytest.mark.skipif(
    Path("/sys/kernel/mm/kloc").exists(), reason="the kernel of this host has contexts"
)
def test_preloaded_in_vain_it_is_silent(tools: Root, tmp_path: Path) -> None:
    """As it is shipped, on this host's kernel: a program runs as ever, and is told why if asked."""
    out = tmp_path / "out"
    out.mkdir()
    binds = [Bind(PROJECT / "src" / "libkloc", SOURCES), Bind(out, OUT)]
    tools.run(["make", "-C", str(SOURCES), f"OUT={OUT}"], binds=binds)
    for verbose, said in (("0", ""), ("1", "libkloc: no contexts: this kernel has none")):
        script = 'printf "%s, %s" "$(/bin/echo as ever 2>/dev/null)" "$(/bin/true 2>&1)"'
        environment = {**PRELOADED, "KLOC_VERBOSE": verbose}
        printed = tools.run(["/bin/sh", "-c", script], binds=binds, env=environment)
        assert printed == f"as ever, {said}"


def test_it_is_installed(tools: Root, tmp_path: Path) -> None:
    for name in ("libkloc", "out"):
        (tmp_path / name).mkdir()
    for path in (PROJECT / "src" / "libkloc").iterdir():
        shutil.copy(path, tmp_path / "libkloc")
    binds = [Bind(tmp_path / "libkloc", SOURCES), Bind(tmp_path / "out", OUT)]
    tools.run(["make", "-C", str(SOURCES), "install", f"DESTDIR={OUT}", "PREFIX=/usr"], binds=binds)
    assert (tmp_path / "out/usr/lib/libkloc.so").is_file()
    assert (tmp_path / "out/usr/include/kloc.h").is_file()
    with pytest.raises(KlocError, match="unused variable"):
        broken = tmp_path / "libkloc" / "libkloc.c"
        broken.write_text("int main(void) { int unused; return 0; }\n")
        tools.run(["make", "-C", str(SOURCES)], binds=binds)
