# SPDX-License-Identifier: GPL-2.0
"""A made-up DAMON: files below a directory, which behave like those of Linux 6.12 when written."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kloc.schemes import damon
from kloc.schemes.sysfs import ADMIN

Tree = Mapping[str, Any]

FILTER: Tree = dict.fromkeys(("memcg_path", "addr_start", "addr_end", "damon_target_idx"), "0") | {
    "memcg_path": "",
    "type": "anon",
    "matching": "N",
}
SCHEME: Tree = {
    "action": "stat",
    "apply_interval_us": "0",
    "target_nid": "-1",
    "access_pattern": {name: {"min": "0", "max": "0"} for name in ("sz", "nr_accesses", "age")},
    "quotas": {
        **dict.fromkeys(("ms", "bytes", "reset_interval_ms", "effective_bytes"), "0"),
        "weights": dict.fromkeys(("sz_permil", "nr_accesses_permil", "age_permil"), "0"),
        "goals": {"nr_goals": "0"},
    },
    "watermarks": {"metric": "none", **dict.fromkeys(("interval_us", "high", "mid", "low"), "0")},
    "filters": {"nr_filters": "0"},
    "stats": dict.fromkeys(("nr_tried", "sz_tried", "nr_applied", "sz_applied", "qt_exceeds"), "0"),
    "tried_regions": {"total_bytes": "0"},
}
CONTEXT: Tree = {
    "avail_operations": "vaddr\nfvaddr\npaddr",
    "operations": "vaddr",
    "monitoring_attrs": {
        "intervals": {"sample_us": "5000", "aggr_us": "100000", "update_us": "1000000"},
        "nr_regions": {"min": "10", "max": "1000"},
    },
    "targets": {"nr_targets": "0"},
    "schemes": {"nr_schemes": "0"},
}
NUMBERED: Mapping[str, Tree] = {
    "nr_kdamonds": {"state": "off", "pid": "-1", "contexts": {"nr_contexts": "0"}},
    "nr_contexts": CONTEXT,
    "nr_targets": {"pid_target": "0", "regions": {"nr_regions": "0"}},
    "nr_regions": {"start": "0", "end": "0"},
    "nr_schemes": SCHEME,
    "nr_filters": FILTER,
}
"""What the folders contain that are made by writing a number to a file."""

PID = 4242
"""The pid of the first kdamond that starts; later ones count up."""


class FakeDamon:
    """DAMON below `root`. `written` has all writes, `refused` errors of writes by path.

    With `ends_first`, kdamonds end by themselves just before they are stopped.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: list[tuple[str, str]] = []
        self.commands: list[str] = []
        self.refused: dict[str, int] = {}
        self.started = 0
        self.ends_first = False
        _make(root / ADMIN.lstrip("/"), {"kdamonds": {"nr_kdamonds": "0"}})

    def write(self, path: str, text: str) -> None:
        """Write to a file, as the kernel takes it."""
        self.written.append((path, text))
        file = self.root / path.lstrip("/")
        if path in self.refused:
            number = self.refused.pop(path)
            raise OSError(number, os.strerror(number), path)
        if not file.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if file.name == "state":
            self._command(file, text)
            return
        if file.name == "nr_kdamonds" and self.running():
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        operations = self.root / path.lstrip("/") / "../avail_operations"
        if file.name == "operations" and text not in operations.resolve().read_text().split():
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        if file.name in NUMBERED and file.parent.name != "monitoring_attrs":
            for old in file.parent.glob("[0-9]*"):
                shutil.rmtree(old)
            for number in range(int(text)):
                _make(file.parent / str(number), NUMBERED[file.name])
        file.write_text(f"{text}\n")

    def running(self) -> bool:
        """Return whether a kdamond runs."""
        states = self.root.glob(f"{ADMIN.lstrip('/')}/kdamonds/*/state")
        return any(state.read_text().strip() == "on" for state in states)

    def end(self) -> None:
        """Let the first kdamond end, as it does with its target."""
        self._command(self.root / damon.STATE.lstrip("/"), "off")

    def start_others(self) -> None:
        """Let somebody else run a scheme."""
        for path, text in (("nr_kdamonds", "1"), ("0/contexts/nr_contexts", "1")):
            self.write(f"{damon.KDAMONDS}/{path}", text)
        context = f"{damon.KDAMONDS}/0/contexts/0"
        self.write(f"{context}/operations", "paddr")
        self.write(f"{context}/schemes/nr_schemes", "1")
        self.write(f"{context}/schemes/0/action", "pageout")
        self.write(damon.STATE, "on")
        self.written.clear()

    def _command(self, state: Path, text: str) -> None:
        self.commands.append(text)
        if text == "off" and self.ends_first:
            state.write_text("off\n")
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(state))
        if text in ("on", "off"):
            state.write_text(f"{text}\n")
            self.started += text == "on"
            pid = PID + self.started if text == "on" else -1
            (state.parent / "pid").write_text(f"{pid}\n")


def install(monkeypatch: Any, root: Path) -> FakeDamon:
    """Let kloc use a made-up DAMON below `root`."""
    fake = FakeDamon(root)
    monkeypatch.setattr(damon, "ROOT", root)
    monkeypatch.setattr(damon, "write_once", fake.write)
    monkeypatch.setattr(damon, "BUSY_SECONDS", 0.0)
    return fake


def _make(folder: Path, tree: Tree) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        if isinstance(content, Mapping):
            _make(folder / name, content)
        else:
            (folder / name).write_text(f"{content}\n")
