# SPDX-License-Identifier: GPL-2.0
"""The one Debian root that compiler, kernel source and QEMU come from, whatever the host is.

It lies in the cache folder and is entered through `unshare` and `chroot`, as root or, without
root, in a user namespace. Nothing in it is ever installed on the host.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kloc.base import cache, progress, terminal
from kloc.base.errors import KlocError
from kloc.build import apt_sources, bootstrap

PACKAGES = (
    "bc",
    "bison",
    "ccache",
    "cpio",
    "e2fsprogs",
    "flex",
    "gcc",
    "git",
    "kmod",
    "libarchive13t64",
    "libc6-dev",
    "libelf-dev",
    "libssl-dev",
    "linux-config-6.12",
    "linux-source-6.12",
    "make",
    "patch",
    "perl",
    "python3-minimal",
    "qemu-system-x86",
    "seabios",
    "sparse",
    "xz-utils",
)

VERSIONS_OF = {
    "qemu": "qemu-system-x86",
    "gcc": "gcc-14",
    "linux-source": "linux-source-6.12",
    "libc": "libc6",
    "e2fsprogs": "e2fsprogs",
}
"""What figures depend on, by the package that it is."""

LAST_LINES = 15
"""How much of a failed program's output an error quotes."""

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
"""Mounts what the program needs, then becomes it: its process is the one that was started."""


END_GROUP = "read -r _; kill -KILL 0"
"""Waits until the process that holds the other end of its input ends, then ends its own group."""


@dataclass(frozen=True)
class Bind:
    """A path of the host, `source`, and where it is seen in the root, `target`."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Root:
    """A Debian root in the cache folder; `key` says which."""

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
        """Return the command line that runs `argv` in the root.

        The process started from it becomes the program itself, so that its signals, its exit
        status and file descriptors passed to it are the program's. `binds` are seen at the same
        absolute path unless a Bind says otherwise. Of the host's environment nothing is passed on.
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
        """Run `argv` in the root and return its output; KlocError with its last lines if it fails.

        The parameters are those of `command`; `stdin` is what the program reads.
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
            raise KlocError(f"{argv[0]} failed:\n{last_lines(done.stdout + done.stderr)}")
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
        """Run `argv` in the root, give each line that it prints to `on_line`; return its status.

        It runs in a process group of its own, which ends with this call, however that ends, and
        with this process, even if that is killed: what make has started does not go on unseen.
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
        # The signal at a parent's death (setpriv --pdeathsig) would reach the first of them alone.
        watcher = subprocess.Popen(
            ["sh", "-c", END_GROUP], stdin=subprocess.PIPE, process_group=process.pid
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                on_line(line)
            return process.wait()
        finally:
            # The watcher is in it still, so that the number is no other group's by now.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            watcher.communicate()

    def versions(self) -> dict[str, str]:
        """Return the versions of what figures depend on: qemu, gcc, linux-source and so on."""
        text = (self.path.parent / "versions.json").read_text()
        versions: dict[str, str] = json.loads(text)
        return versions


def tool_root() -> Root:
    """Return the root with the tools, made by mmdebstrap on first use (about a minute)."""
    key = cache.key(apt_sources.SUITE, *PACKAGES)
    made = cache.build("root", key, _make)
    return Root(made / "tree", key)


def _make(draft: Path) -> None:
    check_namespaces()
    tar = draft / "root.tar"
    bootstrap.bootstrap("the Debian root with compiler and QEMU", PACKAGES, tar, seconds=60)
    root = unpack(tar, draft)
    show = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\\n"]
    installed = dict(line.split() for line in root.run(show).splitlines())
    versions = {name: installed[package] for name, package in VERSIONS_OF.items()}
    (draft / "versions.json").write_text(json.dumps(versions, indent=1))


def unpack(tar: Path, draft: Path) -> Root:
    """Unpack `tar`, which is removed, in the folder `draft` of the cache; return the root there."""
    tree = draft / "tree"
    tree.mkdir()
    with progress.estimated("unpacking the root", seconds=10):
        unpack = ["tar", "--extract", "--no-same-owner", "--exclude=./dev/*", f"--file={tar}"]
        subprocess.run([*unpack, f"--directory={tree}"], check=True)
    tar.unlink()
    return Root(tree, draft.name)


def check_namespaces() -> None:
    """Raise KlocError if this process may not enter a root of its own."""
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return
    if os.geteuid() == 0:
        hint = "in a container, give it CAP_SYS_ADMIN (docker run --privileged)"
    else:
        hint = "as root: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
    raise KlocError(f"namespaces cannot be made here: {tried.stderr.strip()}", hint=hint)


def last_lines(text: str, count: int = LAST_LINES) -> str:
    """Return the last `count` lines of `text`."""
    return "\n".join(text.rstrip().splitlines()[-count:])


def _unshare() -> list[str]:
    as_user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *as_user, "--"]
