# SPDX-License-Identifier: GPL-2.0
"""The results that --resume FILE continues: reads FILE and checks that it fits.

FILE is never written before it has passed all checks.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kloc.base import files, terminal
from kloc.base.errors import KlocError
from kloc.commands import output
from kloc.machine import profile
from kloc.machine.parts import Parts
from kloc.measure import resume
from kloc.measure.policy import Policy
from kloc.measure.task import Task
from kloc.results import document, inputs

HINT = (
    "measure with what the file was measured with, or start another file with --json FILE and "
    "without --resume"
)


class Differs(KlocError):
    """The runs of a result file are not of the comparison that would continue it."""


def chosen(args: argparse.Namespace, todo: Sequence[Task]) -> dict[str, Any] | None:
    """Return the document that --resume names, None without this option.

    `todo` are tasks of the measurement. Without --resume, a message says what becomes of an
    existing file of --json. Raises KlocError if the document does not fit, as `read`, `check_size`
    and `check_machine` do.
    """
    if args.resume is None:
        replaced = args.json and not (args.dry_run or output.is_stdout(args))
        if replaced and args.json.exists():
            terminal.say(
                f"{args.json} exists and will become {args.json}{files.OLD}; "
                f"--resume {args.json} would continue it"
            )
        return None
    for option in output.DRAWN:
        path = getattr(args, option, None)
        if path and path.resolve() == args.resume.resolve():
            raise KlocError(f"--{option} {path} would replace the result file", "name another one")
    stored = read(args.resume)
    check_size(args.resume, stored, todo)
    check_machine(args.resume, stored, profile.load(args.machine).as_dict())
    return stored


def read(path: Path) -> dict[str, Any]:
    """Return the document of a comparison. Raises KlocError if the file has none."""
    if not path.exists():
        raise KlocError(
            f"--resume {path}: this file does not exist",
            f"start the comparison with --json {path}, which is written after every run",
        )
    content = document.read(path)
    if document.is_object_document(content) or any("placement" in run for run in content["runs"]):
        raise KlocError(
            f"--resume {path}: this is not a result of kloc compare", "name a file of its --json"
        )
    if not all(run.get("inputs") for run in content["runs"]):
        raise KlocError(
            f"--resume {path}: an older kloc measured this, and did not record with what",
            "measure the comparison again, with --json FILE",
        )
    return content


def check_size(path: Path, content: Mapping[str, Any], todo: Sequence[Task]) -> None:
    """Raise KlocError unless all results are of the size, and as cold or not, as the tasks."""
    ours = [{"size": asdict(task.size), "cold": task.cold} for task in todo]
    if lines := document.size_differences(content["runs"], ours):
        raise _differs(path, lines)


def check_machine(path: Path, content: Mapping[str, Any], machine: Mapping[str, Any]) -> None:
    """Raise KlocError unless the results are of this machine profile. It needs nothing built."""
    if lines := document.contradictions(content, {**content, "machine": machine}):
        raise _differs(path, lines)


def check_inputs(
    path: Path,
    content: Mapping[str, Any],
    now: Mapping[str, Any],
    todo: Sequence[Task],
    policies: Sequence[Policy],
    parts: Mapping[str, Parts],
) -> None:
    """Raise KlocError unless the results would be made from the same today.

    Versions and machine have to be those of the document `now`, and the results of these tasks
    have to have the inputs that they would have if they were measured again.
    """
    if lines := document.contradictions(content, now):
        raise _differs(path, lines)
    today = resume.with_inputs_of_today(content["runs"], todo, policies, parts)
    if lines := inputs.differences(content["runs"], today):
        raise _differs(path, lines)


def _differs(path: Path, lines: Sequence[str]) -> Differs:
    listed = "\n".join(f"    {line}" for line in lines)
    return Differs(
        f"{path}: the file's runs (first) and those of this comparison differ:\n{listed}",
        HINT,
    )
