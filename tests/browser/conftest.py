# SPDX-License-Identifier: GPL-2.0
"""A fixture that controls headless Chromium, in a Debian root of its own, through a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kloc.build.browser import browser_root
from kloc.build.root import Root

OPTIONS = ("--no-sandbox", "--remote-debugging-pipe", "--user-data-dir=/tmp/profile")
"""Options of Chromium. In the root's namespaces it cannot create those of its own sandbox."""

PROGRAM = "exec /usr/lib/chromium/chromium-headless-shell 3<&0 4>&1 >&2 " + " ".join(OPTIONS)
"""Starts Chromium: it reads commands from descriptor 3, and writes answers and events to 4."""

ANSWER_SECONDS = 60
"""How long a test waits for an answer."""


class Page:
    """A page of the browser; `events` has the events of its log, console and network."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Open an empty page."""
        self.events: list[dict[str, Any]] = []
        self._process = process
        self._pending = b""
        self._number = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        """Load a file and wait until it is loaded completely."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self._read_until(lambda message: message.get("method") == "Page.loadEventFired")

    def show(self, *, dark: bool = False, width: int = 1280, medium: str = "screen") -> None:
        """Set color scheme, window width in pixels, and medium ("screen" or "print")."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=medium, features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def pdf(self) -> bytes:
        """Return the page as PDF, as it prints."""
        done = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        return base64.b64decode(done["data"])

    def picture(self) -> bytes:
        """Return the complete page as PNG."""
        done = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(done["data"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol and return its result."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        answer = self._read_until(lambda message: message.get("id") == number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def _read_until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message = self._read()
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\0" not in self._pending:
            ready, _, _ = select.select([descriptor], [], [], ANSWER_SECONDS)
            assert ready, f"no answer from the browser in {ANSWER_SECONDS} s"
            chunk = os.read(descriptor, 1 << 16)
            assert chunk, "the browser ended"
            self._pending += chunk
        text, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> Root:
    """The root with Chromium, made on first use."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        return browser_root()


@pytest.fixture
def browser(chromium: Root, tmp_path: Path) -> Iterator[Page]:
    """An empty page. The browser can read the temporary directories of all tests."""
    command = chromium.command(["/bin/sh", "-c", PROGRAM], binds=[tmp_path.parent])
    with (tmp_path / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
    try:
        yield Page(process)
    finally:
        process.kill()
        process.communicate()
