# SPDX-License-Identifier: GPL-2.0
"""With the pinned versions, a small run has the same inputs and the same figures on every host.

tests/golden/pinned-run.txt has their hashes. It changes with every change of the kernel, QEMU, the
timing model or the guest; `./kloc test --update-golden` writes it anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kloc.base import hashes
from support import golden
from support.in_machine import kloc_run

pytestmark = pytest.mark.machine

NAME = "pinned-run"

COMMAND = "seq 200000 >/data/numbers; sort -rn /data/numbers | md5sum; rm /data/numbers"
"""Processes, anonymous memory, page cache and the disk, in some tenths of a second."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("pinned") / "run.json"
    kloc_run("--policy", "kloc", "--json", path, "--", "sh", "-ec", COMMAND)
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def text_of(run: dict[str, Any]) -> str:
    """Return the lines of the golden file: the hash of each input, and of everything measured."""
    # Each commit of kloc's repeats the figures, unless it changes an input.
    measured = {key: value for key, value in run.items() if key not in ("inputs", "kloc")}
    lines = [f"input {name} {value}" for name, value in sorted(run["inputs"].items())]
    return "\n".join([*lines, f"figures {hashes.of_text(json.dumps(measured, sort_keys=True))}"])


def test_inputs_and_figures_are_those_of_every_host(document: dict[str, Any]) -> None:
    (run,) = document["runs"]
    text = text_of(run)
    updating = os.environ.get(golden.UPDATE) == "1"
    others = document["versions"]["not_pinned"]
    if others and not updating and not _has_inputs(text):
        pytest.skip(f"Debian no longer offers the pinned versions of {', '.join(others)}")
    golden.check(NAME, text)


def _has_inputs(text: str) -> bool:
    """Return whether the inputs in `text` are those of the golden file, as the figures must be."""
    path = Path(golden.DIRECTORY / f"{NAME}.txt")
    return path.read_text().splitlines()[:-1] == text.splitlines()[:-1]
