# SPDX-License-Identifier: GPL-2.0
"""Makes the disk image that brings a job's files into the guest."""

from __future__ import annotations

import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from kloc.base import daemon, paths
from kloc.base.errors import KlocError
from kloc.build import root
from kloc.build.ext4 import make_ext4
from kloc.build.guest_image import normalized, with_git_mode
from kloc.machine import guest_commands, periods
from kloc.machine.job import BOUND_INTERVAL_US, MEMORY_INTERVAL_US, Job
from kloc.machine.parts import Parts

GROUP = "/sys/fs/cgroup/job"
"""The cgroup in which the agent runs the job's scripts."""

DAEMON_FILES = {
    "/kloc/daemon": paths.shipped("machine", "daemon", "daemon"),
    "/usr/local/sbin/kloc-mark": paths.shipped("machine", "daemon", "kloc-mark"),
}
"""The project's files that run a policy's daemon, by their paths in the guest.

They are not in machine/guest: a guest without a daemon is the same as before.
"""

DAEMON_CALLS = {"setup": "start", "start": "alive", "check": "stop"}
"""What is done with the daemon at the beginning of each script."""


def write_job_image(job: Job, parts: Parts, image: Path) -> None:
    """Write to `image` the scripts, settings, commands, copies and programs for the agent.

    The directory of `image` must not have a file `job` yet. Raises KlocError if a file that the job
    copies does not exist.
    """
    directory = image.parent / "job"
    directory.mkdir()
    texts = {"mode": _mode(job)}
    if job.modelled:
        # The agent gives the job the CPUs below this one, and leaves the others to kernel threads.
        texts["cores"] = f"{max(job.profile.workload_cpus()) + 1}\n"
        texts["slices"] = f"{job.slices}\n"
    texts["periods"] = _lines(periods.settings(job.profile).items())
    texts["commit"] = f"{periods.commit_seconds(job.profile)}\n"
    texts["settings"] = _lines(job.settings.items())
    if parts.kernel.initramfs is not None:
        # The agent must not expect everything of a kernel that was not built for the machine.
        texts["foreign"] = ""
    if job.terminal is not None:
        one = job.terminal
        texts["terminal"] = f"{one.type} {one.rows} {one.columns}\n"
    texts.update(_watching(job))
    texts.update(_daemon(job))
    texts.update(_scripts(job))
    files: dict[str, Path] = {}
    for name, text in texts.items():
        (directory / name).write_text(text)
        files[f"/kloc/job/{name}"] = directory / name
    if job.commands:
        files.update(guest_commands.write_files(directory))
    programs = [*parts.programs]
    if job.watchers:
        programs += [path for path in parts.watchers if path.name in job.watchers]
    files.update({f"/usr/local/bin/{path.name}": path for path in programs})
    if job.daemon is not None:
        files |= DAEMON_FILES
        files |= {f"/usr/local/bin/{path.name}": path for path in job.daemon.files}
    copies = {str(path.absolute()): path for path in job.copies}
    pack({**files, **copies}, image, frozenset(copies))


def _lines(settings: Iterable[tuple[str, str]]) -> str:
    """Return files and their values in the format that the agent reads."""
    return "".join(f"{path} {value}\n" for path, value in settings)


def _scripts(job: Job) -> dict[str, str]:
    """Return the agent's scripts. The first one leaves out spare cores between the job's cores.

    Only two sockets have such cores: each has its own spare ones. If the policy is a daemon, the
    scripts start it, see to it that it runs, and stop it.
    """
    scripts = dict(job.scripts)
    if job.daemon is not None:
        for name, call in DAEMON_CALLS.items():
            scripts[name] = f"/kloc/daemon {call}\n" + scripts.get(name, "")
    cpus = job.profile.workload_cpus()
    if job.modelled and not job.shell and len(cpus) <= max(cpus):
        first = "prepare" if job.prepares else "setup"
        mask = f"echo {','.join(map(str, cpus))} >{GROUP}/cpuset.cpus\n"
        scripts[first] = mask + scripts.get(first, "")
    return scripts


def _watching(job: Job) -> dict[str, str]:
    """Return the agent's files about swap, DAMON, and samples of memory and budgets."""
    texts = {}
    if job.swap is not None:
        texts["swap"] = f"{job.swap.kind} {job.swap.size_bytes}\n"
    if job.damon is not None:
        texts["damon"] = _lines(job.damon.writes)
        nodes = " ".join("all" if node is None else str(node) for node in job.damon.nodes)
        texts["target"] = f"{job.damon.target} {job.damon.update_us} {nodes}\n"
    if job.samples_memory:
        texts["memory"] = f"{MEMORY_INTERVAL_US}\n"
    if job.bounded:
        texts["bound"] = f"{BOUND_INTERVAL_US}\n"
    return texts


def _daemon(job: Job) -> dict[str, str]:
    """Return the files of machine/daemon/daemon about the policy's daemon."""
    if job.daemon is None:
        return {}
    one, profile = job.daemon, job.profile
    own = profile.workload_cpus()
    spare = [str(cpu) for cpu in range(profile.cores + profile.spare_cores) if cpu not in own]
    sockets = range(profile.sockets)
    nodes = daemon.environment(
        profile.scale, sockets, [profile.sockets + socket for socket in sockets]
    )
    limits = {"ready_ms": one.ready_seconds, "stop_ms": one.stop_seconds}
    texts = {
        "start": one.start,
        "ready": one.ready,
        "stop": one.stop,
        "needs": "".join(f"{path}\n" for path in one.needs),
        "settings": f"{nodes}cpus={','.join(spare)}\n"
        + "".join(f"{name}={round(1000 * seconds)}\n" for name, seconds in limits.items()),
    }
    return {f"daemon.{name}": text for name, text in texts.items() if text is not None}


def _mode(job: Job) -> str:
    """Return what the agent does."""
    if job.shell:
        return "shell"
    if job.prepares:
        return "prepare"
    return "measure" if job.modelled else "check"


def pack(files: Mapping[str, Path], image: Path, own_modes: Collection[str] = ()) -> None:
    """Make `image` with the host's `files`, which it maps from absolute paths in the guest.

    Directories are copied with their content. Names and content are all that the image has of the
    host: modes are those of git, the owner is root and times are fixed. `own_modes` are paths in
    the guest whose files keep their modes, because they are the user's. Raises KlocError if a file
    does not exist.
    """
    tar = image.with_suffix(".tar")
    added: set[str] = set()
    with tarfile.open(tar, "w") as archive:
        for target, source in sorted(files.items()):
            if not source.exists():
                raise KlocError(
                    f"{source} does not exist and cannot be copied into the machine",
                    "give --copy an existing file or directory",
                )
            modes = normalized if target in own_modes else with_git_mode
            for parent in _new_parents(target, added):
                archive.addfile(parent)
            # A link is replaced by its target, which the guest may not have. Links in directories
            # stay links.
            archive.add(source.resolve(), target.lstrip("/"), filter=modes)
    make_ext4(root.tool_root(), tar, image)
    tar.unlink()


def _new_parents(target: str, added: set[str]) -> Iterator[tarfile.TarInfo]:
    """Yield the parent directories of `target` that are not in `added`, and add them to it.

    mke2fs does not make them by itself.
    """
    for parent in reversed(PurePosixPath(target).parents):
        name = str(parent).lstrip("/")
        if name and name not in added:
            added.add(name)
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            member.mode = 0o1777 if name == "tmp" else 0o755
            yield normalized(member)
