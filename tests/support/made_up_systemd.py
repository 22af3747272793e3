# SPDX-License-Identifier: GPL-2.0
"""A made-up systemd: programs in the PATH that keep a unit as a file, and say what they were asked.

The state of a unit is the file UNIT in a directory. `fail` has words that the next systemd-run
fails with; `lasting` units do not stop.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = {
    "systemd-run": """
if [ -s "$D/fail" ]; then cat "$D/fail" >&2; exit 1; fi
for word; do
    case $word in
        --unit=*) unit=${word#--unit=} ;;
    esac
done
cp "$word" "$D/script"
[ -e "$D/ends" ] || touch "$D/units/$unit"
""",
    "systemctl": """
case $1 in
    stop) [ -e "$D/lasting" ] || rm -f "$D/units/$2" ;;
    is-active) if [ -e "$D/units/$2" ]; then echo active; else echo inactive; exit 3; fi ;;
esac
""",
    "journalctl": "echo 'damo: the reason'\n",
    "dpkg-query": """
for name; do :; done
grep -qx "$name" "$D/packages" || exit 1
printf installed
""",
}


@dataclass(frozen=True)
class Systemd:
    """The made-up systemd; files in `directory` say what it does."""

    directory: Path

    @property
    def units(self) -> list[str]:
        """The units that run."""
        return sorted(path.name for path in (self.directory / "units").iterdir())

    @property
    def asked(self) -> list[str]:
        """The command lines of what changed a unit, in order."""
        lines = (self.directory / "asked").read_text().splitlines()
        return [line for line in lines if not line.startswith(("systemctl is-active", "dpkg"))]

    @property
    def script(self) -> str:
        """The script of the unit that was started last."""
        return (self.directory / "script").read_text()

    def write(self, name: str, text: str = "") -> None:
        """Write one of the files that say what it does."""
        (self.directory / name).write_text(text)


def make(monkeypatch: pytest.MonkeyPatch, directory: Path, root: Path) -> Systemd:
    """Put the programs into the PATH, and let systemd be the manager of the system at `root`.

    Paths that the programs get are below `root`.
    """
    programs = directory / "bin"
    programs.mkdir(parents=True)
    (directory / "units").mkdir()
    (directory / "asked").touch()
    (directory / "packages").write_text("damo\n")
    for name, text in PROGRAMS.items():
        path = programs / name
        # The words of the log have the paths of a real system.
        log = f'echo "{name} $*" >>"$D/asked"\n'
        below = text.replace('cp "$word"', f'cp "{root}$word"')
        path.write_text(f"#!/bin/sh\nD='{directory}'\n{log}{below}")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (root / "run/systemd/system").mkdir(parents=True)
    return Systemd(directory)
