# SPDX-License-Identifier: GPL-2.0
"""Scores of settings (DAOS, section 3.3, Listing 2), and scores that users define."""

from __future__ import annotations

import importlib.util
import inspect
import math
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kloc.base.errors import KlocError

SLA = 0.10
"""The share of performance that may be lost."""


@dataclass(frozen=True)
class Measurement:
    """What was measured under one setting.

    `runtime` is that of the command in seconds, or for a running process the seconds for one unit
    of its progress: lower is better. `memory` is the average of the process tree in bytes.
    """

    runtime: float
    memory: float


Score = Callable[[Measurement, Measurement], float]
"""Returns the score of a measurement, given that without a scheme; higher is better."""


class Listing2:
    """The paper's score: half performance, half saved memory, while the SLA is kept.

    A setting that loses more than the `sla` share of performance gets the worst score so far. The
    run without a scheme counts as the first one, with the score 0.
    """

    def __init__(self, sla: float = SLA) -> None:
        self._sla = sla
        self._earlier = [0.0]

    def __call__(self, measured: Measurement, baseline: Measurement) -> float:
        """Return the score of `measured`."""
        performance = 1 - measured.runtime / baseline.runtime
        memory = 1 - measured.memory / baseline.memory
        if performance <= -self._sla:
            return min(self._earlier)
        score = 0.5 * performance + 0.5 * memory
        self._earlier.append(score)
        return score


def from_file(reference: str) -> Score:
    """Return the function that FILE.py:function names.

    It takes two Measurements, the second one of the run without a scheme, and returns a number.
    Raises KlocError if there is no such function.
    """
    name, colon, function = reference.rpartition(":")
    path = Path(name)
    how = "write --score FILE.py:function, such as score.py:mine"
    if not colon or path.suffix != ".py":
        raise KlocError(f"--score {reference} names no function in a Python file", how)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise KlocError(f"--score: {path} cannot be loaded: {error}", how) from error
    found = getattr(module, function, None)
    if not callable(found):
        raise KlocError(f"--score: {path} has no function '{function}'", how)
    try:
        inspect.signature(found).bind(None, None)
    except TypeError as error:
        raise KlocError(
            f"--score: {function} does not take two arguments",
            f"def {function}(measured, baseline): both have .runtime and .memory",
        ) from error
    return lambda measured, baseline: checked(found(measured, baseline), f"--score {reference}")


def from_command(command: str) -> Score:
    """Return the score that a shell command prints.

    The command gets KLOC_RUNTIME and KLOC_MEMORY (seconds, bytes), and both of the run without a
    scheme as KLOC_BASELINE_RUNTIME and KLOC_BASELINE_MEMORY. The number is its last line.
    """

    def score(measured: Measurement, baseline: Measurement) -> float:
        environment = {
            **os.environ,
            "KLOC_RUNTIME": repr(measured.runtime),
            "KLOC_MEMORY": repr(measured.memory),
            "KLOC_BASELINE_RUNTIME": repr(baseline.runtime),
            "KLOC_BASELINE_MEMORY": repr(baseline.memory),
        }
        return run_for_number(command, "--score-command", environment)

    return score


def run_for_number(command: str, option: str, environment: dict[str, str] | None = None) -> float:
    """Return the number on the last line that a shell command prints; `option` is in errors."""
    done = subprocess.run(
        ["sh", "-c", command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        raise KlocError(
            f"{option}: the command ended with status {done.returncode}: {command}",
            "try it in a shell; it has to print a number and end with status 0",
        )
    lines = done.stdout.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return checked(last, f"{option} {command}")


def checked(value: object, source: str) -> float:
    """Return a score as a number. Raises KlocError for NaN, an infinity and what is no number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise KlocError(
            f"{source} gave {value!r}, which is not a finite number",
            "a score is a number, higher is better; check for divisions by 0",
        )
    return number
