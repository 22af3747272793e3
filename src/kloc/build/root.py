# SPDX-License-Identifier: GPL-2.0
"""The tool root: a Debian root with compiler and the sources of kernel and QEMU.

It is in the cache directory, the same on every host. Programs enter it through `unshare` and
`chroot`, as root or in a user namespace. It installs nothing on the host.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.base import cache, progress, terminal
from kloc.base.errors import KlocError, disk_full
from kloc.build import apt_sources, bootstrap, pins, space

PACKAGES = (
    "bc",
    "bison",
    "ccache",
    "cpio",
    "dpkg-dev",
    "e2fsprogs",
    "flex",
    "gcc",
    "git",
    "kmod",
    "libarchive13t64",
    "libc6-dev",
    "libelf-dev",
    "libglib2.0-dev",
    "libssl-dev",
    "linux-config-6.12",
    "linux-source-6.12",
    "make",
    "meson",
    "ninja-build",
    "patch",
    "perl",
    "pkgconf",
    "python3-minimal",
    "python3-venv",
    "qemu-system-data",
    "seabios",
    "sparse",
    "xz-utils",
)

QEMU_SOURCE = Path("usr/src/qemu")
"""Where a root has the files of Debian's qemu source package, relative to it."""

FIRMWARE = "qemu-system-data"
"""The package of QEMU's firmware, from whose source we build QEMU."""

VERSIONS_OF = {
    "qemu": FIRMWARE,
    "gcc": "gcc-14",
    "linux-source": "linux-source-6.12",
    "libc": "libc6",
    "e2fsprogs": "e2fsprogs",
}
"""The tools that figures depend on, each with its Debian package; results name their versions.

QEMU's is the package of its firmware, built from the source that we patch (see `kloc.build.qemu`).
"""

LAST_LINES = 15
"""How many lines of a failed program's output an error quotes."""

ENTER = """\
set -e
root=$1; shift
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then
        mkdir -p "$root$2"
    else
        mkdir -p "$root${2%/*}"
        [ -e "$root$2" ] || : > "$root$2"
    fi
    mount --rbind "$1" "$root$2"
    shift 2
done
shift
exec /usr/sbin/chroot "$root" "$@"
"""
"""Makes the mounts, then executes the program in the same process."""

END_GROUP = "read -r _; kill -KILL 0"
"""Waits until stdin's writer ends, then kills its own process group."""


@dataclass(frozen=True)
class Bind:
    """A bind mount: the host's path `source`, visible at `target` in the root."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Root:
    """A Debian root at `path`; `key` identifies its contents."""

    path: Path
    key: str

    def command(
        self,
        argv: Sequence[str],
        *,
        binds: Sequence[Path | Bind] = (),
        cwd: Path = Path("/"),
        env: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Return the command line that runs `argv` in the root, in the directory `cwd`.

        Its process becomes the program: signals, exit status and file descriptors work as if the
        program was started directly. A path in `binds` is mounted at the same absolute path; a Bind
        names another one. The environment is PATH, HOME, LANG and `env`, not the host's.
        """
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
            **(env or {}),
        }
        settings = [f"{name}={value}" for name, value in variables.items()]
        mounts: list[str] = []
        for bind in binds:
            source, target = (bind, bind) if isinstance(bind, Path) else (bind.source, bind.target)
            mounts += [str(source.absolute()), str(target.absolute())]
        return [
            *_unshare(),
            *("/bin/sh", "-c", ENTER, "enter", str(self.path), *mounts, "--"),
            *("/usr/bin/env", "--ignore-environment", f"--chdir={cwd}", *settings, *argv),
        ]

    def run(
        self,
        argv: Sequence[str],
        *,
        binds: Sequence[Path | Bind] = (),
        cwd: Path = Path("/"),
        env: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> str:
        """Run `argv` in the root with the input `stdin`; return its stdout.

        The other parameters are those of `command`. Raises KlocError, with the last lines of its
        output, if it fails.
        """
        terminal.command_line(argv)
        done = subprocess.run(
            self.command(argv, binds=binds, cwd=cwd, env=env),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            output = done.stdout + done.stderr
            full = disk_full(output, argv[0], cache.directory())
            raise full or KlocError(f"{argv[0]} failed:\n{last_lines(output)}")
        return done.stdout

    def follow(
        self,
        argv: Sequence[str],
        on_line: Callable[[str], None],
        *,
        binds: Sequence[Path | Bind] = (),
        cwd: Path = Path("/"),
        env: Mapping[str, str] | None = None,
    ) -> int:
        """Run `argv` in the root, call `on_line` with each line of its output; return its status.

        The program and its children are a process group, which is killed when this call ends, by
        return or exception, and when this process ends, even by SIGKILL. So no compiler that make
        started is left running.
        """
        terminal.command_line(argv)
        process = subprocess.Popen(
            self.command(argv, binds=binds, cwd=cwd, env=env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        )
        # A parent-death signal (setpriv --pdeathsig) would reach only the first process.
        watcher = subprocess.Popen(
            ["sh", "-c", END_GROUP], stdin=subprocess.PIPE, process_group=process.pid
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                on_line(line)
            return process.wait()
        finally:
            # The watcher is still in the group, so its id cannot belong to another group yet.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            watcher.communicate()

    def versions(self) -> dict[str, str]:
        """Return the version of each tool in VERSIONS_OF."""
        text = (self.path.parent / "versions.json").read_text()
        versions: dict[str, str] = json.loads(text)
        return versions

    def packages(self) -> dict[str, str]:
        """Return the version of each installed package."""
        packages: dict[str, str] = json.loads((self.path.parent / "packages.json").read_text())
        return packages


def tool_root() -> Root:
    """Return the tool root, made by mmdebstrap on first use (about a minute)."""
    key = tool_root_key()
    entry = cache.build("root", key, _make)
    return Root(entry / "tree", key)


def tool_root_key() -> str:
    """Return the key of the tool root's cache entry: Debian's release, packages and versions."""
    return cache.key(apt_sources.SUITE, *PACKAGES, pins.FILE)


def _make(draft: Path) -> None:
    check_namespaces()
    space.check()
    tar = draft / "root.tar"
    bootstrap.bootstrap(
        "the Debian root with compiler and sources",
        PACKAGES,
        tar,
        seconds=80,
        lines=[*apt_sources.apt_lines(), *apt_sources.source_lines()],
        hook=bootstrap.fetch_source("qemu", FIRMWARE, QEMU_SOURCE),
        pinned=True,
    )
    root = unpack(tar, draft)
    installed = record_packages(root)
    versions = {name: installed[package] for name, package in VERSIONS_OF.items()}
    (draft / "versions.json").write_text(json.dumps(versions, indent=1))
    pins.report("the tool root", installed)


def record_packages(root: Root) -> dict[str, str]:
    """Write which packages a new root has, for `Root.packages`, and return their versions."""
    show = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\\n"]
    installed = dict(line.split() for line in root.run(show).splitlines())
    (root.path.parent / "packages.json").write_text(json.dumps(installed, indent=1))
    return installed


def unpack(tar: Path, draft: Path) -> Root:
    """Unpack the root in `tar` to `draft`/tree, remove `tar`, and return the root."""
    tree = draft / "tree"
    tree.mkdir()
    with progress.estimated("unpacking the root", seconds=10):
        extract = ["tar", "--extract", "--no-same-owner", "--exclude=./dev/*", f"--file={tar}"]
        subprocess.run([*extract, f"--directory={tree}"], check=True)
    tar.unlink()
    return Root(tree, draft.name)


def check_namespaces() -> None:
    """Raise KlocError if this process cannot create the namespaces that entering a root needs."""
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return
    if os.geteuid() == 0:
        hint = "in a container, give it CAP_SYS_ADMIN (docker run --privileged)"
    else:
        hint = (
            "run as root: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
        )
    raise KlocError(f"cannot create namespaces: {tried.stderr.strip()}", hint=hint)


def last_lines(text: str, count: int = LAST_LINES) -> str:
    """Return the last `count` lines of `text`."""
    return "\n".join(text.rstrip().splitlines()[-count:])


def _unshare() -> list[str]:
    as_user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *as_user, "--"]
