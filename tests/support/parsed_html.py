# SPDX-License-Identifier: GPL-2.0
"""Parses HTML pages for tests: elements, their text, and the text as a reader sees it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "path", "use"}
"""The elements without an end tag that reports use."""

CELLS = {"td", "th"}
LINES = {"aside", "caption", "div", "h1", "h2", "h3", "li", "nav", "p", "pre", "section", "tr"}
LINES |= {"a", "article", "dd", "details", "dt", "figcaption", "figure", "summary", "table"}
HIDDEN = {"head", "svg"}

ROWS_MAX = 10


class Html(HTMLParser):
    """A page: its elements with their attributes, and the text in them by tag.

    Creating it asserts that elements are closed in the right order.
    """

    def __init__(self, text: str) -> None:
        """Parse the page."""
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self._rows = 0
        self._visible = ""
        self.feed(text)
        self.close()
        assert not self._open, f"{self._open} are not closed"

    def attributes(self, name: str) -> list[str]:
        """Return the values of an attribute in all elements."""
        return [value for _, found in self.tags if (value := found.get(name)) is not None]

    def visible(self) -> str:
        """Return the text of the body in lines; cells of a row are separated by "|".

        Of a long table, only the first ROWS_MAX rows are returned.
        """
        lines = (" ".join(line.split()).strip(" |") for line in self._visible.splitlines())
        return "".join(f"{line}\n" for line in lines if line)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that begins."""
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        if tag in LINES:
            self._visible += "\n"
        if tag in ("table", "tr"):
            self._rows = 0 if tag == "table" else self._rows + 1
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Note an element that ends."""
        if tag in VOID:
            return
        assert self._open.pop() == tag
        if tag in LINES:
            self._visible += "\n"
        elif tag in CELLS:
            self._visible += " | "

    def handle_data(self, data: str) -> None:
        """Note text."""
        for tag in set(self._open):
            self.texts[tag][-1] += data
        if not HIDDEN & set(self._open) and ("tr" not in self._open or self._rows <= ROWS_MAX):
            # Code keeps its lines, other text has none.
            self._visible += data if "pre" in self._open else data.replace("\n", " ")
