# SPDX-License-Identifier: GPL-2.0
"""The protocol of the guest's agent: frames that it sends over the second serial line.

A frame is `@kloc NAME BYTES`, a newline, BYTES bytes and a newline (machine/guest/agent sends
them). QEMU appends what it receives to a file, which `Agent` reads while the machine runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FRAME = re.compile(rb"@kloc (\w+) (\d+)\n")


class Agent:
    """Reads the frames in the file that QEMU writes the serial line to."""

    def __init__(self, path: Path) -> None:
        """Create the empty file `path` for QEMU."""
        self.path = path
        path.touch()
        self._offset = 0
        self._pending = b""

    def new_frames(self) -> Iterator[tuple[str, str]]:
        """Yield (name, body) of each frame that is complete since the last call."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        self._offset += len(text)
        self._pending += text
        while match := FRAME.search(self._pending):
            end = match.end() + int(match[2])
            if len(self._pending) <= end:
                return
            body = self._pending[match.end() : end]
            self._pending = self._pending[end + 1 :]
            yield match[1].decode(), body.decode(errors="replace")
