# SPDX-License-Identifier: GPL-2.0
"""A result file that is written again after every run of a comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kloc.base import files
from kloc.measure.record import Identity, Run, identity

NO_RUNS = "[]\n}"
"""How the text of a document without runs ends: `runs` is its last key."""


class GrowingFile:
    """The result file `path`. It encodes each run once, because that takes most of the time."""

    def __init__(self, path: Path) -> None:
        """Write nothing yet."""
        self.path = path
        self._encoded: dict[Identity, str] = {}

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the file by a document of runs, in the same form as `files.write_json`.

        A run that was written before must not have changed. What was in the file before the first
        call is kept as FILE.old, unless files.continue_file was called. Raises KlocError if the
        file cannot be written.
        """
        head = json.dumps({**content, "runs": []}, indent=1)
        assert head.endswith(NO_RUNS)
        runs = ",\n".join(self._text(run) for run in content["runs"])
        files.write_text(self.path, f"{head.removesuffix(NO_RUNS)}[\n{runs}\n ]\n}}\n", keep=True)

    def _text(self, run: Run) -> str:
        known = identity(run)
        if known not in self._encoded:
            lines = json.dumps(run, indent=1).splitlines()
            self._encoded[known] = "\n".join(f"  {line}" for line in lines)
        return self._encoded[known]
