# SPDX-License-Identifier: GPL-2.0
"""Runs the kernel's selftests, tools/testing/selftests/{kloc,reloc,tiering,topology}."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TypeVar

from kloc.build import programs
from kloc.build.kernel_source import KERNEL
from kloc.machine import launcher
from kloc.machine.job import Job
from kloc.machine.launcher import Machine, RunFailed
from kloc.machine.parts import prepare_parts
from kloc.machine.profile import Profile
from kloc.machine.topology import Topology

SELFTESTS = KERNEL / "files/tools/testing/selftests"
DIRECTORIES = [SELFTESTS / "kloc", SELFTESTS / "reloc", SELFTESTS / "tiering"]
TOPOLOGY = SELFTESTS / "topology"
"""Selftests that need other nodes than a fast and a slow one (see support.topologies)."""

CACHES = (
    *("dentry", "ext4_inode_cache", "radix_tree_node", "extent_status", "buffer_head"),
    *("jbd2_journal_head", "shmem_inode_cache", "inode_cache"),
    *("TCP", "TCPv6", "sock_inode_cache", "filp", "eventpoll_epi", "eventpoll_pwq"),
)
"""The caches of kernel objects that can move, as far as the machine's file systems have them."""

PARAMETERS = {"reloc": (f"reloc.caches={','.join(CACHES)}",)}
"""Parameters of the kernel that the selftests of a directory need."""

SKIPPED = 4
"""The exit status of a selftest that this kernel or machine cannot run."""

SECONDS = 300
"""How long a selftest may take."""

SILENT_SECONDS = SECONDS + 100
"""A machine hangs if no selftest begins for so long, in the host's time."""

ABORTED = "QEMU ended (status -6) in stage boot"
"""In the message of a machine whose QEMU has aborted before the first selftest."""

TIMED_OUT = 124
"""The exit status of a selftest that did not end in time."""

RUN = """
export TMPDIR=${{TMPDIR:-/data}} PATH=$PATH:{path}
run() {{
    cd {selftests}/$(dirname $1)
    echo "== $1"
    # The console is what is left of a machine that hangs.
    echo "$(cut -d . -f 1 /proc/uptime) s: selftest $1" >/dev/ttyS0
    status=0
    timeout -k 30 {seconds} sh ./$(basename $1) 2>&1 </dev/null || status=$?
    echo "== exit $status"
}}
failed=
for script in {scripts}; do
    run $script
    case $status in 0|{skipped}) ;; *) failed="$failed $script" ;; esac
done
for script in $failed; do run $script; done
"""

SCRIPTS = [
    f"{directory.name}/{path.name}"
    for directory in DIRECTORIES
    for path in sorted(directory.glob("[!_]*.sh"))
]
"""All selftests, as DIRECTORY/NAME."""

Printed = dict[str, tuple[str, int]]
"""The output and the exit status of selftests, by DIRECTORY/NAME."""

Argument = TypeVar("Argument", bound=Hashable)


def once(run: Callable[[Argument], Printed]) -> Callable[[Argument], Printed]:
    """Return `run` so that it runs once for each argument, and a machine that fails does, too."""

    @cache
    def outcome(argument: Argument) -> Printed | RunFailed:
        try:
            return run(argument)
        except RunFailed as failed:
            return failed

    def result(argument: Argument) -> Printed:
        printed = outcome(argument)
        if isinstance(printed, RunFailed):
            raise printed
        return printed

    return result


def job(
    scripts: Sequence[str],
    host: Profile,
    settings: Mapping[str, str],
    seconds: int = SECONDS,
    setup: str = "",
    topology: Topology | None = None,
) -> Job:
    """Return the job that runs selftests one after another, in one boot, after the shell's `setup`.

    Each is stopped after `seconds`. `topology` has the nodes if they are not those of `host`.

    Selftests wait for kernel threads, and not for ever: on a host that is busy for a moment, kswapd
    or ktierd can be too late. Those that fail run once more at the end (see `parse`).
    """
    sources = [source for directory in DIRECTORIES for source in sorted(directory.glob("*.c"))]
    helpers = [programs.build(source) for source in sources]
    path = ":".join(["/bin", *(str(helper.parent) for helper in helpers)])
    directories = sorted({script.split("/")[0] for script in scripts})
    parameters = [word for name in directories for word in PARAMETERS.get(name, ())]
    run = RUN.format(
        path=path,
        scripts=" ".join(scripts),
        selftests=SELFTESTS,
        seconds=seconds,
        skipped=SKIPPED,
    )
    return Job(
        "selftests",
        host,
        {"measured": setup + run},
        settings,
        copies=(*DIRECTORIES, TOPOLOGY, *helpers),
        # Two CPUs run at the same time, which races need.
        modelled=False,
        parameters=tuple(parameters),
        topology=topology,
    )


def run(job: Job) -> Printed:
    """Run the job of selftests, and return their output.

    A machine without the timing model has threads of the host that all have to run. If it hangs, or
    QEMU aborts while it boots, it is started once more, with a warning. Raises RunFailed if that
    happens again, or the machine fails.

    QEMU aborts when a CPU uses memory-mapped I/O while another one maps the registers of a device
    ("iotlb_to_section: Assertion `section_index < d->map.sections_nb' failed"). With the timing
    model, CPUs take turns.
    """
    try:
        return _run(job)
    except RunFailed as failed:
        if not isinstance(failed, Hangs) and ABORTED not in failed.message:
            raise
        warnings.warn(f"started again: {failed.message}", stacklevel=2)
        return _run(job)


class Hangs(RunFailed):
    """A machine in which no selftest begins any more."""


def _run(job: Job) -> Printed:
    size, since = -1, time.monotonic()

    def watch(machine: Machine) -> None:
        # The name of each selftest goes to the console. Its time of change is no measure: the clock
        # of a host that is a virtual machine jumps when that was stopped for a while.
        nonlocal size, since
        if (now := machine.console.stat().st_size) != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > SILENT_SECONDS:
            failed = machine.failure(f"the machine hangs: no selftest began for {SILENT_SECONDS} s")
            raise Hangs(failed.message, failed.hint)

    return parse(launcher.run(job, prepare_parts(()), watch).frames["measured"])


def parse(output: str) -> Printed:
    """Return what each selftest printed and its exit status, from what the job printed.

    Of those that ran twice, the last run counts; a warning has what the first one printed.
    """
    printed: Printed = {}
    for name, text, status in re.findall(
        r"^== (\S+\.sh)\n(.*?)^== exit (\d+)$", output, re.M | re.S
    ):
        if name in printed:
            first, _ = printed[name]
            warnings.warn(f"{name} failed, and ran again:\n{first}", stacklevel=2)
        printed[name] = (text, int(status))
    return printed


def check(printed: Printed, script: str) -> None:
    """Assert that all results of a selftest are ok, and that it has all that it announces."""
    text, status = printed[script]
    assert status == 0, text
    planned = re.search(r"^1\.\.(\d+)$", text, re.M)
    assert planned, text
    assert len(re.findall(r"^ok \d+ ", text, re.M)) == int(planned[1]), text
    assert re.search(r"^ok \d+ control: ", text, re.M), "no negative control"
