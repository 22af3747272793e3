# SPDX-License-Identifier: GPL-2.0
"""The host's Debian: what kloc needs from it, and which mirror it uses."""

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kloc import ui
from kloc.errors import KlocError

SUITE = "trixie"
"""The Debian that the tools and the guest come from, whatever the host's is."""

DEFAULT_MIRROR = "http://deb.debian.org/debian"
DEFAULT_SECURITY_MIRROR = "http://deb.debian.org/debian-security"

PROGRAMS = {"mmdebstrap": "mmdebstrap", "uidmap": "newuidmap", "mount": "mount"}
"""The packages that kloc needs on the host for a program, and that program."""

KEYRING = "debian-archive-keyring"
"""The package, and the name of its files in KEYRINGS."""

KEYRINGS = Path("/usr/share/keyrings")

PACKAGES = (*PROGRAMS, KEYRING)
"""All that kloc needs installed on the host, beside Python."""

TEMPORARY = Path("/var/tmp")
"""Where roots are made: on a disk, unlike /tmp, and open to other user ids, unlike a home."""

EPOCH = 1704067200
"""The time stamped on all that is made, so that it is the same on every host: 2024-01-01 UTC."""


@dataclass(frozen=True)
class Source:
    """One archive that the host's apt uses."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def missing() -> list[str]:
    """Return those of PACKAGES that are not installed here."""
    there = _installed if shutil.which("dpkg-query") else _found
    return [name for name in PACKAGES if not there(name)]


def _found(package: str) -> bool:
    """Return whether what is needed of `package` is here, where packages have other names."""
    if package == KEYRING:
        return any(KEYRINGS.glob(f"{KEYRING}.*"))
    return shutil.which(PROGRAMS[package]) is not None


def _installed(package: str) -> bool:
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return found.returncode == 0 and found.stdout == "installed"


def require() -> None:
    """See to it that PACKAGES are installed: ask once, then install them with apt."""
    names = missing()
    if not names:
        return
    install = _as_root(["apt-get", "install", "--yes", "--no-install-recommends", *names])
    by_hand = f"install what is missing: {' '.join(install)}"
    if not shutil.which("apt-get"):
        raise KlocError(
            f"kloc needs {', '.join(names)}, and this is {description()}, not Debian 12 or 13",
            hint="install them in this system's way, or use a Debian machine",
        )
    wanted = ", ".join(names)
    if not ui.ask(f"kloc needs the Debian packages {wanted}. Install them now?", _either(by_hand)):
        raise KlocError(f"kloc cannot go on without {wanted}", hint=by_hand)
    _apt(_as_root(["apt-get", "update"]), by_hand)
    _apt(install, by_hand)


def _either(by_hand: str) -> str:
    return f"say --yes to have it done, or {by_hand}"


def _as_root(argv: list[str]) -> list[str]:
    return argv if os.geteuid() == 0 else ["sudo", *argv]


def _apt(argv: list[str], by_hand: str) -> None:
    if argv[0] == "sudo" and not shutil.which("sudo"):
        raise KlocError("kloc is not root here and there is no sudo", hint=f"as root, {by_hand}")
    ui.command_line(argv)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with ui.timed(" ".join(argv[:3]), seconds=20):
        done = subprocess.run(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-10:])
        raise KlocError(f"{' '.join(argv)} failed:\n{last}", hint=by_hand)


def os_release() -> dict[str, str]:
    """Return the fields of /etc/os-release (empty where there is none)."""
    path = Path("/etc/os-release")
    if not path.exists():
        return {}
    fields = re.findall(r'^(\w+)="?([^"\n]*)"?$', path.read_text(), re.MULTILINE)
    return dict(fields)


def description() -> str:
    """Return what this system calls itself, such as "Debian GNU/Linux 12 (bookworm)"."""
    return os_release().get("PRETTY_NAME", "an unknown system")


def apt_lines() -> list[str]:
    """Return SUITE's lines for apt, from the mirror that the host itself uses for Debian.

    What another system's apt uses (Ubuntu's, say) has no SUITE: there it is Debian's own mirror.
    """
    release = os_release()
    codename = release.get("VERSION_CODENAME", "")
    sources = list(_sources(Path("/etc/apt"))) if release.get("ID") == "debian" else []
    mirror = _mirror(sources, codename) or DEFAULT_MIRROR
    security = _mirror(sources, f"{codename}-security") or DEFAULT_SECURITY_MIRROR
    return [
        f"deb {mirror} {SUITE} main",
        f"deb {mirror} {SUITE}-updates main",
        f"deb {security} {SUITE}-security main",
    ]


def _mirror(sources: Sequence[Source], suite: str) -> str | None:
    """Return where the host gets Debian's `suite` by HTTP, or None."""
    for source in sources:
        over_http = source.uri.startswith(("http://", "https://"))
        if over_http and suite in source.suites and "main" in source.components:
            return source.uri
    return None


def _sources(etc: Path) -> Iterator[Source]:
    """Yield what the apt configuration in `etc` lists, in both of its formats."""
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if path.suffix == ".list" and path.is_file():
            yield from _one_line_sources(path.read_text())
        elif path.suffix == ".sources":
            yield from _deb822_sources(path.read_text())


def _one_line_sources(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        match = re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if match:
            uri, suite, components = match.groups()
            yield Source(uri, (suite,), tuple(components.split()))


def _deb822_sources(text: str) -> Iterator[Source]:
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([\w-]+):\s*(.*)$", stanza, re.MULTILINE))
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
            suites = tuple(fields.get("Suites", "").split())
            components = tuple(fields.get("Components", "").split())
            for uri in fields.get("URIs", "").split():
                yield Source(uri, suites, components)


def bootstrap(
    what: str,
    packages: Sequence[str],
    tar: Path,
    *,
    seconds: float,
    variant: str = "essential",
    lines: Sequence[str] = (),
) -> None:
    """Write to `tar` a root with `packages`: `what`, taking about `seconds`.

    `variant` is mmdebstrap's, and `lines` are apt's (default: those of SUITE). Works as root, and
    without it through user namespaces. A package that is not there: KlocError.
    """
    require()
    mode = "root" if os.geteuid() == 0 else "unshare"
    if mode == "unshare":
        check_subordinate_ids()
    left_out = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "man")]
    argv = [
        *("mmdebstrap", f"--mode={mode}", f"--variant={variant}", "--format=tar", *left_out),
        *(f"--include={','.join(packages)}", SUITE, "-", *(lines or apt_lines())),
    ]
    ui.command_line(argv)
    environment = {**os.environ, "TMPDIR": str(TEMPORARY), "SOURCE_DATE_EPOCH": str(EPOCH)}
    with ui.timed(f"making {what}", seconds), tar.open("wb") as out:
        status, errors = _mmdebstrap(argv, environment, out)
    if status != 0:
        raise _bootstrap_error(what, errors)


def _mmdebstrap(
    argv: Sequence[str], environment: Mapping[str, str], out: IO[bytes]
) -> tuple[int, str]:
    """Run it; return its status and messages. If interrupted, let it clean up after itself."""
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


def _bootstrap_error(what: str, output: str) -> KlocError:
    unknown = re.findall(r"Unable to locate package (\S+)", output)
    if unknown:
        return KlocError(
            f"Debian 13 has no package {', '.join(sorted(set(unknown)))}",
            hint="look for its name on packages.debian.org or with apt-cache search",
        )
    last = "\n".join(output.splitlines()[-15:])
    mirrors = " and ".join(sorted({line.split()[1] for line in apt_lines()}))
    return KlocError(
        f"mmdebstrap could not make {what}:\n{last}",
        hint=f"it fetches from {mirrors}; is the network up, and is there space in {TEMPORARY}?",
    )


def check_subordinate_ids() -> None:
    """Raise KlocError if this user has no user ids to make a Debian root with."""
    user = pwd.getpwuid(os.geteuid())
    for table in (Path("/etc/subuid"), Path("/etc/subgid")):
        entries = table.read_text().splitlines() if table.exists() else []
        owners = {entry.partition(":")[0] for entry in entries}
        if not owners & {user.pw_name, str(user.pw_uid)}:
            raise KlocError(
                f"user {user.pw_name} has no range of ids in {table}, which a root is made with",
                hint="as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "
                + user.pw_name,
            )
