# SPDX-License-Identifier: GPL-2.0
"""libkloc: builds and installs as shipped; under sanitizers, it does what kloc.h says."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.build.root import Bind, Root

SOURCES, TEST, OUT = Path("/sources"), Path("/test"), Path("/out")
"""Paths inside the tool root."""

NO_LIMIT = (1 << 64) - 1
SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


class Library:
    """The library and a program that calls it, built for files in a directory, not the kernel's."""

    def __init__(self, tools: Root, directory: Path) -> None:
        """Build both, with the sanitizers."""
        self.root, self._tools, self._out = directory / "root", tools, directory / "out"
        self._out.mkdir()
        (self.root / "sys/kernel/mm/kloc").mkdir(parents=True)
        (self.root / "sys/kernel/mm/tiering/node0").mkdir(parents=True)
        (self.root / "sys/fs/cgroup/a/b c").mkdir(parents=True)
        (self.root / "proc/self").mkdir(parents=True)
        self.set_cgroup("1:cpu:/elsewhere\n0::/a/b c\n")
        flags = [f"CFLAGS={SANITIZED}", f'CPPFLAGS=-DKLOC_ROOT=\\"{self.root}\\"']
        self._run(["make", "-C", str(SOURCES), f"OUT={OUT}", *flags])
        # With -rdynamic the library calls the prctl() that the caller defines, not libc's.
        warnings = ["-Wall", "-Wextra", "-Werror", "-rdynamic"]
        source = str(TEST / "libkloc_test.c")
        run_path = [f"-L{OUT}", "-lkloc", f"-Wl,-rpath,{OUT}"]
        paths = [f"-I{SOURCES}", "-o", str(OUT / "caller"), source, *run_path]
        self._run(["gcc", *SANITIZED.split(), *warnings, *paths])

    @property
    def node(self) -> Path:
        """The limit of node 0."""
        return self.root / "sys/kernel/mm/tiering/node0/max_kb"

    @property
    def group(self) -> Path:
        """The limit of the caller's cgroup."""
        return self.root / "sys/fs/cgroup/a/b c/memory.kloc.max"

    def set_cgroup(self, text: str) -> None:
        """Set the content of the caller's /proc/self/cgroup."""
        (self.root / "proc/self/cgroup").write_text(text)

    def call(self, *arguments: object, **environment: str) -> list[str]:
        """Run the caller; return the lines that it prints."""
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
    """The library, with its files reset."""
    built.set_cgroup("1:cpu:/elsewhere\n0::/a/b c\n")
    for path in (built.node, built.group):
        path.write_text("")
    return built


def test_process_is_chosen_and_released(library: Library) -> None:
    assert library.call("enable", 0, 1) == ["prctl 0x4b4c4f43 1 0 1 0", "0 0"]
    assert library.call("enable", 77, 0) == ["prctl 0x4b4c4f43 1 77 0 0", "0 0"]


@pytest.mark.parametrize(("pid", "on"), [(-1, 1), (1, 2), (1, -1)])
def test_wrong_arguments_do_not_reach_the_kernel(pid: int, on: int, library: Library) -> None:
    assert library.call("enable", pid, on) == [f"-1 {errno.EINVAL}"]


@pytest.mark.parametrize(
    ("error", "reported"),
    [(errno.EINVAL, errno.ENOSYS), (errno.ESRCH, errno.ESRCH), (errno.EPERM, errno.EPERM)],
)
def test_errors_of_the_kernel_are_reported(error: int, reported: int, library: Library) -> None:
    assert library.call("enable", 1, 1, PRCTL_ERROR=str(error))[-1] == f"-1 {reported}"


@pytest.mark.parametrize(
    ("size", "cgroup", "node"),
    [(0, "0", "0"), (1 << 20, "1048576", "1024"), (1025, "1025", "1"), (NO_LIMIT, "max", "max")],
)
def test_fast_memory_is_limited(size: int, cgroup: str, node: str, library: Library) -> None:
    assert library.call("memsize", -1, size) == ["0 0"]
    assert library.group.read_text().split() == [cgroup]
    assert library.call("memsize", 0, size) == ["0 0"]
    assert library.node.read_text().split() == [node]


def test_limit_without_a_node_or_cgroup_is_an_error(library: Library) -> None:
    assert library.call("memsize", -2, 1) == [f"-1 {errno.EINVAL}"]
    assert library.call("memsize", 1, 1) == [f"-1 {errno.ENOENT}"]
    for group in ("0::/\n", "0::/gone\n", "1:cpu:/only\n", "", "0::/" + "x" * 5000 + "\n"):
        library.set_cgroup(group)
        assert library.call("memsize", -1, 1) == [f"-1 {errno.ENOENT}"], group
    assert library.group.read_text() == library.node.read_text() == ""


def test_kernel_without_contexts_is_an_error(library: Library) -> None:
    settings = library.root / "sys/kernel/mm"
    aside = settings.rename(settings.with_name("aside"))
    try:
        assert library.call("memsize", 0, 1) == [f"-1 {errno.ENOSYS}"]
    finally:
        aside.rename(settings)


PRELOADED = {"LD_PRELOAD": "/out/libkloc.so"}
# AddressSanitizer would refuse to start after the preloaded library.
SANITIZER_ORDER = {"ASAN_OPTIONS": "verify_asan_link_order=0"}


def test_preloaded_library_chooses_the_process(library: Library) -> None:
    assert library.call("nothing") == []
    assert library.call("nothing", **PRELOADED, **SANITIZER_ORDER) == ["prctl 0x4b4c4f43 1 0 1 0"]


@pytest.mark.skipif(
    Path("/sys/kernel/mm/kloc").exists(), reason="the kernel of this host has contexts"
)
def test_preloaded_library_is_silent_without_contexts(tools: Root, tmp_path: Path) -> None:
    """The library as shipped, on this host's kernel: programs run, and KLOC_VERBOSE explains."""
    out = tmp_path / "out"
    out.mkdir()
    binds = [Bind(PROJECT / "src" / "libkloc", SOURCES), Bind(out, OUT)]
    tools.run(["make", "-C", str(SOURCES), f"OUT={OUT}"], binds=binds)
    script = "/bin/echo output 2>/dev/null; /bin/true 2>&1"

    def run(verbose: str) -> list[str]:
        environment = {**PRELOADED, "KLOC_VERBOSE": verbose}
        printed = tools.run(["/bin/sh", "-c", script], binds=binds, env=environment)
        return printed.splitlines()

    assert run(verbose="0") == ["output"]
    output, message = run(verbose="1")
    assert output == "output"
    assert message.startswith("libkloc: ")


def test_make_install_installs_library_and_header(tools: Root, tmp_path: Path) -> None:
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
