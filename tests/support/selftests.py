# SPDX-License-Identifier: GPL-2.0
"""Runs the kernel's selftests, tools/testing/selftests/{kloc,reloc,tiering}, in the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kloc.build import programs
from kloc.build.kernel_source import KERNEL
from kloc.machine.job import Job
from kloc.machine.profile import Profile

SELFTESTS = KERNEL / "files/tools/testing/selftests"
DIRECTORIES = [SELFTESTS / "kloc", SELFTESTS / "reloc", SELFTESTS / "tiering"]

CACHES = (
    *("dentry", "ext4_inode_cache", "radix_tree_node", "extent_status", "buffer_head"),
    *("jbd2_journal_head", "shmem_inode_cache", "inode_cache"),
)
"""The caches of kernel objects that can move, as far as the machine's file systems have them."""

PARAMETERS = {"reloc": (f"reloc.caches={','.join(CACHES)}",)}
"""Parameters of the kernel that the selftests of a directory need."""

SKIPPED = 4
"""The exit status of a selftest that this kernel or machine cannot run."""

TIMED_OUT = 124
"""The exit status of a selftest that did not end in time."""

RUN = """
export TMPDIR=${{TMPDIR:-/data}} PATH=$PATH:{path}
for script in {scripts}; do
    cd {selftests}/$(dirname $script)
    echo "== $script"
    status=0
    timeout {seconds} sh ./$(basename $script) 2>&1 </dev/null || status=$?
    echo "== exit $status"
done
"""

SCRIPTS = [
    f"{directory.name}/{path.name}"
    for directory in DIRECTORIES
    for path in sorted(directory.glob("[!_]*.sh"))
]
"""All selftests, as DIRECTORY/NAME."""

Printed = dict[str, tuple[str, int]]
"""The output and the exit status of selftests, by DIRECTORY/NAME."""


def job(
    scripts: Sequence[str],
    host: Profile,
    settings: Mapping[str, str],
    seconds: int = 120,
    setup: str = "",
) -> Job:
    """Return the job that runs selftests one after another, in one boot, after the shell's `setup`.

    Each is stopped after `seconds`.
    """
    sources = [source for directory in DIRECTORIES for source in sorted(directory.glob("*.c"))]
    helpers = [programs.build(source) for source in sources]
    path = ":".join(["/bin", *(str(helper.parent) for helper in helpers)])
    directories = sorted({script.split("/")[0] for script in scripts})
    parameters = [word for name in directories for word in PARAMETERS.get(name, ())]
    run = RUN.format(path=path, scripts=" ".join(scripts), selftests=SELFTESTS, seconds=seconds)
    return Job(
        "selftests",
        host,
        {"measured": setup + run},
        settings,
        copies=(*DIRECTORIES, *helpers),
        # Two CPUs run at the same time, which races need.
        modelled=False,
        parameters=tuple(parameters),
    )


def parse(output: str) -> Printed:
    """Return what each selftest printed and its exit status, from what the job printed."""
    found = re.findall(r"^== (\S+\.sh)\n(.*?)^== exit (\d+)$", output, re.M | re.S)
    return {name: (text, int(status)) for name, text, status in found}
