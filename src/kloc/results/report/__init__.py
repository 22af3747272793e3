# SPDX-License-Identifier: GPL-2.0
"""Renders a result document as one HTML file, without scripts and external links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kloc.base import files, progress
from kloc.results.document import is_object_document
from kloc.results.report import object_page, page

TEMPLATES = Path(__file__).parent / "templates"


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write the report on a document to `path`, atomically.

    `document` is what `--json` writes: runs, or the result of `kloc objects`. The same document
    gives the same bytes. Raises KlocError if the file cannot be written.
    """
    with progress.shown("drawing the report"):
        html = render(document)
    files.write_text(path, html, keep=True)


def render(document: Mapping[str, Any]) -> str:
    """Return the report on a document as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    make_page = object_page.page if is_object_document(document) else page.page
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (TEMPLATES / "style.css").read_text()
    return environment.get_template("page.html").render(page=make_page(document), style=style)
