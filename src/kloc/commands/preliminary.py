# SPDX-License-Identifier: GPL-2.0
"""First figures of a comparison, while kloc's kernel is built for the first time.

Debian's kernel is downloaded within a minute, and has Linux's own policies. So they are measured on
it, in a table of their own: figures of two kernels are never in one table or result file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

from kloc.base import cache, terminal
from kloc.base.errors import KlocError, explained
from kloc.build import foreign_kernel
from kloc.measure.runner import measure, prepare
from kloc.measure.task import Task
from kloc.results import document, printed

POLICIES = ("stock", "tpp")
"""The policies that are measured, if they are among those of the comparison."""


def figures(todo: Sequence[Task]) -> Callable[[], None]:
    """Return a function that measures a few of the tasks on Debian's kernel and prints them.

    It is for `runner.prepare`, which calls it while the kernel is built. It does nothing if the
    cache has a kernel already, since building the next one takes a minute or two, or if none of the
    tasks can be run on Debian's.
    """
    chosen = _chosen(todo)
    if not chosen or cache.entries("kernel"):
        return lambda: None
    return lambda: _show(chosen)


def _chosen(todo: Sequence[Task]) -> list[Task]:
    """Return the tasks of POLICIES of one workload, seed and machine.

    Disks are prepared on kloc's kernel, so workloads that need one are left out.
    """
    fitting = [
        task for task in todo if task.policy.name in POLICIES and task.workload.prepare is None
    ]

    def is_like_first(task: Task) -> bool:
        first = fitting[0]
        return (task.workload.name, task.seed, task.profile) == (
            first.workload.name,
            first.seed,
            first.profile,
        )

    return [task for task in fitting if is_like_first(task)]


def _show(chosen: Sequence[Task]) -> None:
    """Measure the tasks and print the table on stderr. An error is told, and ends nothing else."""
    first = chosen[0]
    policies = [task.policy for task in chosen]
    names = " and ".join(one.name for one in policies)
    terminal.say(
        f"while the kernel is built: {first.workload.name} under {names} on Debian's kernel"
    )
    try:
        parts = prepare([first.workload], foreign_kernel.TESTED)
        runs = measure(chosen, policies, parts)
    except (KlocError, OSError, subprocess.CalledProcessError) as error:
        reason = error if isinstance(error, KlocError) else explained(error)
        terminal.say(f"there are no first figures: {reason.message}")
        return
    content = document.assemble(parts.values(), first.profile.as_dict(), runs)
    terminal.say(
        f"first figures, of Debian's kernel {parts[first.workload.name].kernel.release}; those of "
        "the comparison are of kloc's kernel, and will differ:"
    )
    printed.show(printed.with_ratios(content, None), terminal.stderr())
