# SPDX-License-Identifier: GPL-2.0
"""Daemons of policies on a server: transient units of systemd, which kloc on starts and ends.

The commands of the table [daemon] (kloc.base.daemon) are scripts in /run/kloc, so that systemd does
not read them as its own syntax. Nothing is ever installed: `refusals` names what is missing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kloc.base import daemon, numa
from kloc.base.daemon import Daemon
from kloc.base.debian import is_installed
from kloc.base.errors import KlocError
from kloc.server import system
from kloc.server.system import exists, path_of, read

SYSTEMD = "/run/systemd/system"
"""Exists if systemd is the system's manager (sd_booted(3))."""

FOLDER = "/run/kloc"
"""Where the scripts are, and where the daemon runs."""

PREFIX = "kloc-policy-"
"""The beginning of the names of units."""

LAST_LINES = 10
"""How many lines of a daemon's output an error quotes."""

ENDED = "ended"
"""The argument of a policy's command `stop` when the daemon has ended already."""

UNLESS_STOPPED = f"""\
if [ "${{1-}}" = {ENDED} ] && [ "$SERVICE_RESULT" = success ]; then exit; fi
"""
"""A shell command: do not stop a daemon a second time that ended as it should."""

POLL_SECONDS = 0.1

SETTLE_SECONDS = 0.5
"""A daemon without a command `ready` has to run for so long."""


def unit(policy: str) -> str:
    """Return the unit of a policy's daemon."""
    return f"{PREFIX}{re.sub(r'[^A-Za-z0-9:_.-]', '_', policy)}.service"


def refusals(policy: str, used: Daemon) -> Iterator[KlocError]:
    """Yield why this server cannot run a policy's daemon; each says what to do about it."""
    if not path_of(SYSTEMD).is_dir():
        yield KlocError(
            f"policy {policy} is a daemon, which kloc runs as a unit of systemd, and this system "
            "runs without systemd",
            "start the program yourself, as another service; or choose another policy",
        )
        return
    for path in used.needs:
        if not exists(path):
            yield KlocError(
                f"the daemon of policy {policy} needs {path}, which this kernel does not have",
                "boot a kernel that has it, or choose another policy",
            )
    if lacking := _not_installed(used.packages):
        yield KlocError(
            f"the daemon of policy {policy} needs what is not installed: {', '.join(lacking)}",
            f"apt install {' '.join(lacking)}",
        )


def command(policy: str, used: Daemon) -> list[str]:
    """Return the command that starts a policy's daemon."""
    stop = []
    if used.stop:
        # systemd does not run ExecStop for a daemon that was killed or failed, and what it had the
        # kernel do, such as schemes of DAMON, would go on.
        script = f"/bin/sh {_script(policy, 'stop')}"
        stop = [f"--property=ExecStop={script}", f"--property=ExecStopPost={script} {ENDED}"]
    return [
        "systemd-run",
        f"--unit={unit(policy)}",
        f"--description=Policy {policy} of kloc",
        "--collect",
        "--service-type=exec",
        f"--property=WorkingDirectory={FOLDER}",
        f"--property=TimeoutStopSec={used.stop_seconds:g}s",
        *stop,
        "/bin/sh",
        _script(policy, "start"),
    ]


def start(policy: str, used: Daemon) -> None:
    """Start a policy's daemon, and wait until it is ready.

    Raises KlocError, with the last lines of its output, if it cannot be started, ends, or is not
    ready in time; it is then stopped.
    """
    stop = UNLESS_STOPPED + used.stop if used.stop else None
    texts = {"start": used.start, "ready": used.ready, "stop": stop}
    for name, text in texts.items():
        if text is not None:
            path_of(_script(policy, name)).write_text(_environment(used) + text, encoding="utf-8")
    try:
        done = _run(command(policy, used))
        if done.returncode != 0:
            raise KlocError(
                f"systemd-run does not start the daemon of policy {policy}: {_words(done)}",
                "systemctl status says whether systemd works",
            )
        _wait_until_ready(policy, used)
    except BaseException:
        _run(["systemctl", "stop", unit(policy)])
        _remove_scripts(policy)
        raise


def stop(policy: str) -> None:
    """Stop a policy's daemon if it runs. Raises KlocError if it still runs after that."""
    done = _run(["systemctl", "stop", unit(policy)])
    if is_active(policy):
        raise KlocError(
            f"the daemon of policy {policy} does not stop: {_words(done)}",
            f"systemctl stop {unit(policy)}, then kloc off again",
        )
    _remove_scripts(policy)


def is_active(policy: str) -> bool:
    """Return whether a policy's daemon runs."""
    state = _run(["systemctl", "is-active", unit(policy)]).stdout.strip()
    return state in ("active", "activating", "deactivating", "reloading")


def runs_in(policy: str, process: Path) -> bool:
    """Return whether a process, a directory of /proc, belongs to a policy's daemon."""
    cgroup = read(process / "cgroup") or ""
    return any(f"/{unit(policy)}" in line for line in cgroup.splitlines())


def _wait_until_ready(policy: str, used: Daemon) -> None:
    began = time.monotonic()
    limit = SETTLE_SECONDS if used.ready is None else used.ready_seconds
    while True:
        if not is_active(policy):
            raise _failure(policy, "ended at once" if used.ready is None else "ended early")
        if used.ready is not None and _run(["/bin/sh", _script(policy, "ready")]).returncode == 0:
            return
        if time.monotonic() - began > limit:
            if used.ready is None:
                return
            raise _failure(policy, f"is not ready after {limit:g} s")
        time.sleep(POLL_SECONDS)


def _failure(policy: str, problem: str) -> KlocError:
    """Return the error about a daemon, with the last lines of its output."""
    show = ["journalctl", f"--unit={unit(policy)}", f"--lines={LAST_LINES}", "--output=cat"]
    last = _run([*show, "--no-pager"]).stdout.rstrip()
    lines = "".join(f"\n    {line}" for line in last.splitlines())
    return KlocError(
        f"the daemon of policy {policy} {problem}{lines}",
        f"journalctl --unit={unit(policy)} has all of its output",
    )


def _environment(used: Daemon) -> str:
    """Return the first lines of each script. A server has the full size."""
    fast, slow = numa.read_fast_and_slow(system.ROOT) or ((), ())
    folders = dict.fromkeys(str(path.parent) for path in used.files)
    path = "".join(f"{folder}:" for folder in folders)
    # System services have no HOME.
    return (
        daemon.environment(1, fast, slow)
        + 'export HOME="${HOME:-/root}"\n'
        + (f'export PATH="{path}$PATH"\n' if path else "")
    )


def _script(policy: str, name: str) -> str:
    return f"{FOLDER}/{unit(policy)}.{name}"


def _remove_scripts(policy: str) -> None:
    for name in ("start", "ready", "stop"):
        path_of(_script(policy, name)).unlink(missing_ok=True)


def _not_installed(packages: Sequence[str]) -> list[str]:
    """Return those of the Debian packages that are not installed; none where there is no dpkg."""
    if shutil.which("dpkg-query") is None:
        return []
    return [name for name in packages if not is_installed(name)]


def _run(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command. Raises KlocError if there is no such program."""
    try:
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise KlocError(
            f"there is no program {argv[0]}", "install systemd, or choose another policy"
        ) from error


def _words(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a program said that failed."""
    return (done.stderr or done.stdout).strip() or f"status {done.returncode}"
