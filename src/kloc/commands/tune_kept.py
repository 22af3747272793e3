# SPDX-License-Identifier: GPL-2.0
"""Keeps the measurements of a tuning in a file, so that a stopped one can be continued."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from kloc.base import files
from kloc.base.errors import KlocError
from kloc.tune.score import Measurement


class Kept:
    """Measurements by the hash of what they were made from; a run with equal inputs repeats.

    Without a path, nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the file, if there is one. Raises KlocError if it has something else."""
        self._path = path
        self._found: dict[str, Measurement] = {}
        if path is None or not path.exists():
            return
        try:
            self._found = msgspec.json.decode(path.read_bytes(), type=dict[str, Measurement])
        except (OSError, msgspec.DecodeError) as error:
            raise KlocError(
                f"{path} does not have the measurements of a tuning: {error}",
                "name the file of an earlier kloc tune --resume, or one that does not exist yet",
            ) from error

    def find(self, inputs: str) -> Measurement | None:
        """Return the measurement with these inputs, None if there is none."""
        return self._found.get(inputs)

    def add(self, inputs: str, measured: Measurement) -> None:
        """Keep a measurement. Raises KlocError if the file cannot be written."""
        self._found[inputs] = measured
        if self._path is not None:
            content = {key: msgspec.to_builtins(one) for key, one in self._found.items()}
            files.write_text(self._path, json.dumps(content, indent=1) + "\n")
