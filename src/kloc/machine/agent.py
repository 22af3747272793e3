# SPDX-License-Identifier: GPL-2.0
"""Reads the frames that the guest's agent sends over the second serial line.

A frame is `@kloc NAME BYTES`, a newline, a body of BYTES bytes and a newline. machine/guest/agent
sends them. QEMU appends the line's data to a file, which `Agent` reads while the machine runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HEADER = re.compile(rb"@kloc (\w+) (\d+)\n")


class Agent:
    """Reads the frames in the file that QEMU writes the serial line to."""

    def __init__(self, path: Path) -> None:
        """Create the empty file `path` for QEMU."""
        self.path = path
        path.touch()
        self._offset = 0
        self._pending = b""

    def new_frames(self) -> Iterator[tuple[str, str]]:
        """Yield (name, body) of each frame that was completed since the last call."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        self._offset += len(data)
        self._pending += data
        while header := HEADER.search(self._pending):
            end = header.end() + int(header[2])
            # The newline after the body has not arrived yet.
            if len(self._pending) <= end:
                return
            body = self._pending[header.end() : end]
            self._pending = self._pending[end + 1 :]
            yield header[1].decode(), body.decode(errors="replace")
