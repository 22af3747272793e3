# SPDX-License-Identifier: GPL-2.0
"""Finds out which policies a kernel supports that this project did not build.

A policy is a set of files of /proc/sys and /sys, which a kernel has or has not. The kernel is
booted once, without the timing model, and asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.machine import launcher
from kloc.machine.job import Job
from kloc.machine.parts import Parts
from kloc.machine.profile import Profile
from kloc.measure.policy import Policy

JOB = "kernel-check"
"""The name of the job that asks the kernel."""


def missing_files(
    policies: Sequence[Policy], workloads: Sequence[str], host: Profile, parts: Parts
) -> dict[str, str]:
    """Return a file that the kernel of `parts` lacks, by the name of the policy that needs it.

    Policies that the kernel supports are left out; without any, or on a kernel of ours, nothing is
    run. The oracle needs what the policy needs that its frames are from. Raises KlocError if
    the kernel does not boot.
    """
    needed = {one.name: _files(one, workloads, host) for one in policies}
    files = sorted({file for of_policy in needed.values() for file in of_policy})
    if parts.kernel.initramfs is None or not files:
        return {}
    present = _present(files, host, parts)
    lacking = {name: [file for file in of if file not in present] for name, of in needed.items()}
    return {name: missing[0] for name, missing in lacking.items() if missing}


def require(missing: Mapping[str, str], release: str) -> None:
    """Raise KlocError if the kernel `release` lacks a file of a policy (see `missing_files`)."""
    for name, file in missing.items():
        raise KlocError(
            f"policy {name} cannot run on kernel {release}, which has no {file}",
            "leave it out of --policies, or run kloc's own kernel, without --kernel",
        )


def note(missing: Mapping[str, str]) -> str:
    """Return the note that names policies which are not run, and why."""
    by_file: dict[str, list[str]] = {}
    for name, file in missing.items():
        by_file.setdefault(file, []).append(name)
    reasons = [f"{', '.join(names)} (the kernel has no {file})" for file, names in by_file.items()]
    return f"policies left out: {'; '.join(reasons)}"


def _files(policy: Policy, workloads: Iterable[str], host: Profile) -> list[str]:
    """Return the files that a policy writes for any of the workloads, in the order of writing."""
    return list(dict.fromkeys(file for name in workloads for file in policy.settings(name, host)))


def _present(files: Sequence[str], host: Profile, parts: Parts) -> set[str]:
    """Boot the kernel, and return those of `files` that it has."""
    listed = " ".join(map(shlex.quote, files))
    script = f'for file in {listed}; do [ ! -e "$file" ] || echo "$file"; done\n'
    job = Job(JOB, host, {"measured": script}, modelled=False)
    with progress.shown(f"asking kernel {parts.kernel.release} for its policies"):
        raw = launcher.run(job, parts)
    return set(raw.frames["measured"].splitlines())
