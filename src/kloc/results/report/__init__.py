# SPDX-License-Identifier: GPL-2.0
"""Reports: one HTML file, made of what --json writes, that needs nothing else to be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kloc.base import progress
from kloc.base.errors import KlocError
from kloc.results.report import object_page, page

TEMPLATES = Path(__file__).parent / "templates"


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write the report on a document to `path`, whole or not at all.

    `document` is what --json writes: the results of runs, or what `kloc objects` found. The same
    document gives the same bytes. KlocError if the file cannot be written.
    """
    with progress.shown("drawing the report"):
        html = render(document)
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(html, encoding="utf-8", errors="xmlcharrefreplace")
        draft.rename(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise KlocError(f"{path} cannot be written: {error.strerror}") from error


def render(document: Mapping[str, Any]) -> str:
    """Return the report on a document as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = object_page.page(document) if "inputs" in document else page.page(document)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (TEMPLATES / "style.css").read_text()
    return environment.get_template("page.html").render(page=made, style=style)
