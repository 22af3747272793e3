# SPDX-License-Identifier: GPL-2.0
"""Runs the scripts of a run in namespaces of their own, so that nothing of it is left behind.

All processes are in a PID namespace, which ends with its first process, the agent; and that ends
with kloc, however kloc ends. A workload's scripts also have a root directory of their own, with the
host's directories but an empty /data, /run and /tmp, and a network of their own with nothing but
loopback: ports that others use are free there. A command of the user's has the host's files and
network.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kloc.base.errors import KlocError
from kloc.native.group import Group
from kloc.native.signals import begin_child, heard

PROGRAMS = "/programs"
"""The directory of a workload's own programs in its root directory."""

TOOLS = ("unshare", "mount", "chroot", "ip")
"""Programs of the packages util-linux, coreutils and iproute2."""

AGENT = """\
folder=$1
if [ "$2" = own ]; then
    root=$folder/root
    mount -t tmpfs -o mode=755,size=1m kloc "$root"
    for path in /*; do
        case $path in /data | /run | /tmp) continue ;; esac
        if [ -h "$path" ]; then
            cp -P "$path" "$root$path"
        elif [ -d "$path" ]; then
            mkdir "$root$path"
            mount --rbind "$path" "$root$path"
        fi
    done
    for path in data run tmp programs; do
        mkdir "$root/$path"
        mount --bind "$folder/$path" "$root/$path"
    done
    mkdir -p "$root/run/kloc"
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
    ip link set lo up
    cd /
    exec chroot "$root" /bin/sh "$folder/agent" "$folder" host
fi
echo ready 0
while read -r step arguments; do
    status=0
    sh -e "$folder/job/$step" $arguments >"$folder/out/$step" 2>&1 </dev/null || status=$?
    echo "$step $status"
done
"""
"""The first process: it runs scripts by name, and tells their status."""

LAST_LINES = 15
"""How many lines of a failed script's output an error quotes."""

POLL_SECONDS = 0.2
"""How late a signal may be heard."""

END_SECONDS = 30.0
"""How long the kernel may take to end all processes of a namespace."""


@dataclass(frozen=True)
class Surroundings:
    """Where scripts run. `own`: with their own root directory and network."""

    own: bool
    directory: Path
    environment: Mapping[str, str]


class Box:
    """A folder with the scripts of a run, and the agent that runs them."""

    def __init__(
        self,
        folder: Path,
        scripts: Mapping[str, str],
        surroundings: Surroundings,
        group: Group | None = None,
        programs: Iterable[Path] = (),
    ) -> None:
        """Write the scripts to `folder`, which exists and is empty; `__enter__` starts the agent.

        The processes are put into `group`. The `programs` are copied into the root directory.
        """
        self._folder = folder
        self._surroundings = surroundings
        self._group = group
        self._agent: subprocess.Popen[str] | None = None
        for name in ("job", "out", "root", "data", "run", "tmp", "programs"):
            (folder / name).mkdir()
        for name, script in scripts.items():
            (folder / "job" / name).write_text(script, encoding="utf-8")
        for program in programs:
            shutil.copy(program, folder / "programs")
        (folder / "agent").write_text(AGENT)

    def __enter__(self) -> Box:
        """Start the agent. Raises KlocError if this host has no namespaces for it."""
        around = self._surroundings
        kinds = ["--mount", "--pid", "--mount-proc", *(["--net", "--ipc"] if around.own else [])]
        agent = ["/bin/sh", "-e", str(self._folder / "agent"), str(self._folder)]
        try:
            self._agent = subprocess.Popen(
                [
                    "unshare",
                    *kinds,
                    "--fork",
                    "--kill-child",
                    *agent,
                    "own" if around.own else "host",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=(self._folder / "errors").open("w"),
                text=True,
                cwd=around.directory if not around.own else None,
                env=dict(around.environment),
                start_new_session=True,
                preexec_fn=self._before_exec,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise KlocError(
                f"cannot start a process in namespaces of its own: {error}",
                f"install the programs that are missing: {', '.join(TOOLS)}",
            ) from error
        try:
            self._wait("ready")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill all processes, and wait until they are gone."""
        agent = self._agent
        if agent is None:
            return
        # The first process is reaped after all others of its namespace, and unshare waits for it.
        first = _child(agent.pid)
        with suppress(ProcessLookupError):
            os.kill(first or agent.pid, signal.SIGKILL)
        for stream in (agent.stdin, agent.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            agent.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()

    def step(self, name: str, *arguments: object) -> None:
        """Run a script, whose output is then in `printed`. Raises KlocError if it fails."""
        assert self._agent is not None and self._agent.stdin is not None
        with suppress(BrokenPipeError):
            self._agent.stdin.write(f"{' '.join([name, *map(str, arguments)])}\n")
            self._agent.stdin.flush()
        status = self._wait(name)
        if status:
            raise KlocError(
                f"{name} ended with status {status}{self._last_lines(f'out/{name}')}",
                "make it work without kloc first, as root",
            )

    def printed(self, name: str) -> str:
        """Return what a script has printed."""
        path = self._folder / "out" / name
        return path.read_text(errors="replace") if path.exists() else ""

    def _wait(self, name: str) -> int:
        """Wait until the agent tells the status of a script, and return it."""
        assert self._agent is not None and self._agent.stdout is not None
        with heard():
            # Not only by reading: a signal may come just before the call, and not interrupt it.
            while not select.select([self._agent.stdout], [], [], POLL_SECONDS)[0]:
                pass
            line = self._agent.stdout.readline()
        if not line:
            raise KlocError(
                f"the processes of a run were killed{self._last_lines('errors')}",
                "dmesg says whether memory was short; in a container, run kloc on the host",
            )
        told, status = line.split()
        assert told == name
        return int(status)

    def _last_lines(self, file: str) -> str:
        path = self._folder / file
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        return "".join(f"\n  {line}" for line in lines[-LAST_LINES:])

    def _before_exec(self) -> None:
        """Prepare the process that becomes unshare: after the fork, in the child."""
        begin_child()
        if self._group is not None:
            self._group.processes.write_text(f"{os.getpid()}")


def _child(pid: int) -> int | None:
    """Return the only child of a process, None if there is none."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        # The name, in parentheses, may have blanks and parentheses itself.
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                return int(path.parent.name)
    return None
