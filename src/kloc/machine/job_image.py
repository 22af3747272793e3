# SPDX-License-Identifier: GPL-2.0
"""Disk images for the machine: the Debian that it runs, and the files of one job."""

import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from kloc.base.errors import KlocError
from kloc.build import root
from kloc.build.ext4 import make_ext4
from kloc.build.guest_image import normalized
from kloc.machine import guest_commands
from kloc.machine.job import Job
from kloc.machine.parts import Parts


def write_job_image(job: Job, parts: Parts, image: Path) -> None:
    """Write `image`: the scripts, settings, commands and files that the guest's agent finds."""
    folder = image.parent / "job"
    folder.mkdir()
    files = {"mode": "shell" if job.shell else "measure" if job.modelled else "check"}
    files["settings"] = "".join(f"{path} {value}\n" for path, value in job.settings.items())
    files.update(job.scripts)
    paths: dict[str, Path] = {}
    for name, text in files.items():
        (folder / name).write_text(text)
        paths[f"/kloc/job/{name}"] = folder / name
    if job.commands:
        paths.update(guest_commands.files(folder))
    paths.update({str(path.absolute()): path for path in job.copies})
    paths.update({f"/usr/local/bin/{path.name}": path for path in parts.programs})
    pack(paths, image)


def pack(files: Mapping[str, Path], image: Path) -> None:
    """Make `image` with the host's `files` (folders as a whole) at their absolute guest paths.

    Modes are kept; owners become root and times a fixed one. A file that is not there: KlocError.
    """
    tar = image.with_suffix(".tar")
    made: set[str] = set()
    with tarfile.open(tar, "w") as out:
        for target, source in sorted(files.items()):
            if not source.exists():
                raise KlocError(f"there is no {source} to copy into the machine")
            for parent in _new_parents(target, made):
                out.addfile(parent)
            # What a link is to need not be there; links within a folder stay what they are.
            out.add(source.resolve(), target.lstrip("/"), filter=normalized)
    make_ext4(root.tool_root(), tar, image)
    tar.unlink()


def _new_parents(target: str, made: set[str]) -> Iterator[tarfile.TarInfo]:
    """Yield the folders above `target` that are not `made` yet: mke2fs makes none by itself."""
    for parent in reversed(PurePosixPath(target).parents):
        name = str(parent).lstrip("/")
        if name and name not in made:
            made.add(name)
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            member.mode = 0o1777 if name == "tmp" else 0o755
            yield normalized(member)
