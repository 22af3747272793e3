# SPDX-License-Identifier: GPL-2.0
"""Makes Debian roots with mmdebstrap, as root or in a user namespace."""

import os
import pwd
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kloc.base import progress, terminal
from kloc.base.errors import KlocError, disk_full
from kloc.build import pins
from kloc.build.apt_sources import SUITE, apt_lines
from kloc.build.host import install_missing

TEMPORARY = Path("/var/tmp")
"""Where mmdebstrap unpacks a root: on a disk, unlike /tmp; open to other users, unlike a home."""

EPOCH = 1704067200
"""2024-01-01 UTC, in seconds: the time of all files, so that images are the same on every host."""

PREFERENCES = "etc/apt/preferences.d/kloc"
"""Where apt finds the pinned versions while the root is made, relative to the root."""

CONFLICT = re.compile(r"unmet dependencies|held broken packages")
"""What apt says if packages of pinned and of other versions cannot be installed together."""

LAST_LINES = 15
"""How many lines of mmdebstrap's output an error quotes."""


def bootstrap(
    what: str,
    packages: Sequence[str],
    tar: Path,
    *,
    seconds: float,
    variant: str = "essential",
    lines: Sequence[str] = (),
    hook: str | None = None,
    pinned: bool = False,
) -> None:
    """Write a Debian root with `packages` to the file `tar`.

    `what` names the root in messages. `seconds` is about how long this takes. `variant` is
    mmdebstrap's; `lines` are apt's (default: those of SUITE). `hook` is a shell command that is run
    outside of the complete root, with the root's path as $1; `fetch_hook` returns one. `pinned`:
    install the versions of `kloc.build.pins`, as far as Debian still offers them together.
    Without root this works in a user namespace. Raises KlocError if a package does not exist, or if
    mmdebstrap fails.
    """
    install_missing()
    mode = "root" if os.geteuid() == 0 else "unshare"
    if mode == "unshare":
        check_subordinate_ids()
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "man")]

    def make(pin_hooks: Sequence[str]) -> tuple[int, str]:
        argv = [
            *("mmdebstrap", f"--mode={mode}", f"--variant={variant}", "--format=tar", *excluded),
            *((f"--customize-hook={hook}",) if hook else ()),
            *pin_hooks,
            *((f"--include={','.join(packages)}",) if packages else ()),
            *(SUITE, "-", *(lines or apt_lines())),
        ]
        terminal.command_line(argv)
        environment = {**os.environ, "TMPDIR": str(TEMPORARY), "SOURCE_DATE_EPOCH": str(EPOCH)}
        with progress.estimated(f"making {what}", seconds), tar.open("wb") as out:
            return _mmdebstrap(argv, environment, out)

    if pinned:
        with _pin_hooks() as pin_hooks:
            status, errors = make(pin_hooks)
        if status == 0:
            return
        if not CONFLICT.search(errors):
            raise _bootstrap_error(what, errors, tar)
        terminal.say(f"Debian no longer offers the pinned versions for {what}; taking the newest")
    status, errors = make(())
    if status != 0:
        raise _bootstrap_error(what, errors, tar)


@contextmanager
def _pin_hooks() -> Iterator[list[str]]:
    """Give mmdebstrap's options with which apt prefers the pinned versions.

    The root that is made does not keep apt's preferences.
    """
    with tempfile.NamedTemporaryFile("w", dir=TEMPORARY, prefix="kloc-pins-") as file:
        file.write(pins.preferences(pins.read()))
        file.flush()
        # In a user namespace, the hook is not run as the owner.
        Path(file.name).chmod(0o644)
        yield [
            f'--setup-hook=mkdir -p "$1/{Path(PREFERENCES).parent}" '
            f'&& cp {file.name} "$1/{PREFERENCES}"',
            f'--customize-hook=rm "$1/{PREFERENCES}"',
        ]


def fetch_hook(command: str, directory: Path) -> str:
    """Return the hook of `bootstrap` that runs apt's `command` in a directory of the new root.

    It is the host's apt with the root's archives, keys and lists, which mmdebstrap describes in the
    file MMDEBSTRAP_APT_CONFIG. The directory is created.
    """
    return (
        f'mkdir -p "$1/{directory}" && cd "$1/{directory}" '
        f'&& export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" && {command}'
    )


def fetch_source(package: str, binary: str, directory: Path) -> str:
    """Return the hook of `bootstrap` that fetches a source package into a directory of the root.

    Its version is that from which the root's package `binary` was built.
    """
    show = "dpkg-query --admindir=\"$1/var/lib/dpkg\" --show --showformat='${source:Version}'"
    source = f"{package}=$({show} {binary})"
    return fetch_hook(f"apt-get --quiet --download-only --only-source source {source}", directory)


def _mmdebstrap(
    argv: Sequence[str], environment: Mapping[str, str], out: IO[bytes]
) -> tuple[int, str]:
    """Run mmdebstrap; return its status and messages. On an interrupt, let it clean up."""
    process = subprocess.Popen(
        argv,
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, errors = process.communicate()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    return process.returncode, errors


def _bootstrap_error(what: str, output: str, tar: Path) -> KlocError:
    if full := disk_full(output, what, TEMPORARY, tar.parent):
        return full
    unknown = re.findall(r"Unable to locate package (\S+)", output)
    if unknown:
        return KlocError(
            f"Debian 13 has no package {', '.join(sorted(set(unknown)))}",
            hint="look for its name on packages.debian.org or with apt-cache search",
        )
    last = "\n".join(output.splitlines()[-LAST_LINES:])
    mirrors = " and ".join(sorted({line.split()[1] for line in apt_lines()}))
    return KlocError(
        f"mmdebstrap could not make {what}:\n{last}",
        hint=f"check the network: it fetches from {mirrors}",
    )


def check_subordinate_ids() -> None:
    """Raise KlocError if this user has no range of subordinate ids, which mmdebstrap needs."""
    user = pwd.getpwuid(os.geteuid())
    for table in (Path("/etc/subuid"), Path("/etc/subgid")):
        entries = table.read_text().splitlines() if table.exists() else []
        owners = {entry.partition(":")[0] for entry in entries}
        if not owners & {user.pw_name, str(user.pw_uid)}:
            raise KlocError(
                f"user {user.pw_name} has no range of ids in {table}, so mmdebstrap cannot make "
                "a Debian root",
                hint="run as root: usermod --add-subuids 100000-165535 "
                f"--add-subgids 100000-165535 {user.pw_name}",
            )
