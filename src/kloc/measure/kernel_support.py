# SPDX-License-Identifier: GPL-2.0
"""Finds out which policies a kernel supports that this project did not build.

A policy is a set of values of files of /proc/sys and /sys. A kernel has these files or not, and
takes the values or not. It is booted once, without the timing model, and asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.build.foreign_kernel import ForeignKernel
from kloc.machine import launcher
from kloc.machine.job import Job
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure.policy import OFF, Policy
from kloc.schemes.sysfs import KDAMONDS

JOB = "kernel-check"
"""The name of the job that asks the kernel."""

FREE_FRAMES = "/proc/kpageflags"
"""The file from which the oracle knows the frames that are free (machine/guest/kloc-free.c)."""

ZRAM = "/sys/block/zram0/disksize"
"""The file that a kernel with zram has."""

ABSENT, REFUSED = "absent", "refused"
"""What the job prints before the number of a setting that the kernel does not take."""

Setting = tuple[str, str]
"""A file and the value that a policy writes to it, "" if the file is only read."""


def unsupported(
    policies: Sequence[Policy], workloads: Sequence[str], host: Profile, parts: Parts
) -> dict[str, str]:
    """Return what the kernel of `parts` lacks, by the name of the policy that needs it.

    Policies that the kernel supports are left out; without any, or on a kernel of ours, nothing is
    run. Values that are OFF are supported for files that the kernel does not have. Raises KlocError
    if the kernel does not boot.
    """
    needed = {one.name: _settings(one, workloads, host) for one in policies}
    settings = sorted({setting for of_policy in needed.values() for setting in of_policy})
    if not isinstance(parts.kernel, ForeignKernel) or not settings:
        return {}
    lacking = _ask(settings, host, parts)
    found = {
        name: [lacking[setting] for setting in of_policy if setting in lacking]
        for name, of_policy in needed.items()
    }
    return {name: reasons[0] for name, reasons in found.items() if reasons}


def require(missing: Mapping[str, str], release: str) -> None:
    """Raise KlocError if the kernel `release` does not support a policy (see `unsupported`)."""
    for name, reason in missing.items():
        raise KlocError(
            f"policy {name} cannot run on kernel {release}: {reason}",
            "choose another policy (kloc policies lists them), or leave out --kernel: kloc's own "
            "kernel has all",
        )


def note(missing: Mapping[str, str]) -> str:
    """Return the note that names policies which are not run, and why."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in missing.items():
        by_reason.setdefault(reason, []).append(name)
    reasons = [f"{', '.join(names)} ({reason})" for reason, names in by_reason.items()]
    return f"policies left out: {'; '.join(reasons)}"


def _settings(policy: Policy, workloads: Iterable[str], host: Profile) -> list[Setting]:
    """Return what a policy writes for any of the workloads, and reads, in this order."""
    written = [item for name in workloads for item in policy.settings(name, host).items()]
    read = [(FREE_FRAMES, "")] if policy.frames_from else []
    read += [(ZRAM, "")] if policy.swap and policy.swap.kind == "zram" else []
    read += [(f"{KDAMONDS}/nr_kdamonds", "")] if policy.scheme else []
    read += [(path, "") for path in policy.daemon.needs] if policy.daemon else []
    return list(dict.fromkeys([*written, *read]))


def _ask(settings: Sequence[Setting], host: Profile, parts: Parts) -> dict[Setting, str]:
    """Boot the kernel, and return why it does not take those of `settings` that it does not."""
    job = Job(JOB, host, {"measured": script(settings)}, modelled=False)
    with progress.shown(f"asking kernel {parts.kernel.release} for its policies"):
        raw = launcher.run(job, parts)
    return answers(settings, raw.frames["measured"])


def script(settings: Sequence[Setting]) -> str:
    """Return the shell script that tries the settings, and prints those that fail."""
    return "".join(_attempt(number, *setting) for number, setting in enumerate(settings))


def answers(settings: Sequence[Setting], printed: str) -> dict[Setting, str]:
    """Return why settings fail, from what their `script` printed."""
    reasons = {ABSENT: "the kernel has no {}", REFUSED: "the kernel's {} does not take {}"}
    failed = [line.split() for line in printed.splitlines()]
    return {
        settings[int(number)]: reasons[how].format(*settings[int(number)]) for how, number in failed
    }


def _attempt(number: int, file: str, value: str) -> str:
    """Return shell commands that print `absent` or `refused` and the number if a setting fails."""
    path = shlex.quote(file)
    absent = ":" if value in OFF else f"echo {ABSENT} {number}"
    write = f"{{ echo {shlex.quote(value)} >{path}; }} 2>/dev/null" if value else ":"
    return f"if [ ! -e {path} ]; then {absent}; elif ! {write}; then echo {REFUSED} {number}; fi\n"
