# SPDX-License-Identifier: GPL-2.0
"""Draws figures with matplotlib, and makes its SVG fit to be embedded in a page.

- Text stays text and takes the page's font.
- Colors become the page's CSS variables, so that they follow the light and the dark style.
- Identifiers are unique in the page. Namespaces and external links are removed.
"""

from __future__ import annotations

import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot

WIDTH = 400
"""Width of each figure in CSS pixels: one fits on a phone, several fit next to each other."""

LABEL_MAX = 20
"""Characters of a name at an axis. Longer names are cut; the table has them in full."""

COLORS = {
    name: f"#0{number:02x}b0{number % 10}"
    for number, name in enumerate(
        (
            *("ink", "soft", "line", "paper", "accent", "muted", "neutral", "blank", "dark"),
            *("blue", "orange", "yellow", "green", "vermillion", "purple", "sky", "grey", "slate"),
        )
    )
}
"""The placeholder colors that matplotlib draws with, by the CSS variable that replaces them."""

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kloc",
    "font.size": 12,
    "text.parse_math": False,
    "text.color": COLORS["ink"],
    "axes.edgecolor": COLORS["line"],
    "axes.facecolor": "none",
    "axes.labelcolor": COLORS["soft"],
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLORS["line"],
    "grid.linewidth": 0.8,
    "xtick.color": COLORS["line"],
    "xtick.labelcolor": COLORS["soft"],
    "xtick.major.size": 0,
    "ytick.color": COLORS["line"],
    "ytick.labelcolor": COLORS["ink"],
    "ytick.major.size": 0,
    "hatch.linewidth": 0.6,
    "figure.dpi": 72,
    "path.simplify": False,
}

_NAMESPACE = re.compile(r"\{[^}]*\}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NUMBER = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True)
class Table:
    """A table of text; the first `names` columns name a row."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    marked: frozenset[int] = frozenset()
    """The numbers of the rows to highlight."""


@dataclass(frozen=True)
class Figure:
    """A drawing, with the table of its data.

    `title` describes it to screen readers, without context; `caption` is the visible heading.
    """

    title: str
    svg: str
    table: Table | None = None
    caption: str = ""


@dataclass
class Sheet:
    """A figure that is being drawn; `svg` is set when the block of `drawing` ends."""

    plot: Plot
    axes: list[Axes] = field(default_factory=list)
    svg: str = ""


@contextmanager
def drawing(title: str, height: int, rows: int = 1, left: int = 84) -> Iterator[Sheet]:
    """Yield a sheet of `height` pixels with `rows` axes above each other that share one x axis.

    `left` is the width of the labels at the axes, in pixels. `title` describes the drawing to
    screen readers.
    """
    import matplotlib
    from matplotlib.figure import Figure as NewPlot

    with matplotlib.rc_context(STYLE):
        plot = NewPlot(figsize=(WIDTH / 72, height / 72))
        axes = plot.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
        plot.subplots_adjust(
            left=left / WIDTH,
            right=1 - 14 / WIDTH,
            top=1 - 22 / height,
            bottom=44 / height,
            hspace=0.22,
        )
        sheet = Sheet(plot, list(axes))
        yield sheet
        text = saved(plot)
    sheet.svg = inline(text, title)


def saved(plot: Plot) -> str:
    """Return the SVG that matplotlib writes of a plot; STYLE must be in use."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # matplotlib warns about letters that its own font lacks; the reader's font has them.
        warnings.filterwarnings("ignore", message="Glyph")
        plot.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def inline(text: str, title: str) -> str:
    """Return the SVG that matplotlib wrote in a form that can be embedded in HTML."""
    prefix = f"f{abs(_stable_hash(text + title)):x}-"
    root = cleaned(text, prefix)
    root.attrib["aria-labelledby"] = prefix + "title"
    label = ElementTree.Element("title", {"id": prefix + "title"})
    label.text = title
    root.insert(0, label)
    svg = ElementTree.tostring(root, encoding="unicode")
    for name, color in COLORS.items():
        svg = svg.replace(color, f"var(--{name})")
    return re.sub(r">\s+<", "><", svg)


def cleaned(text: str, prefix: str) -> ElementTree.Element:
    """Return the SVG that matplotlib wrote as an image without namespaces and external links.

    Ids that are used begin with `prefix`, others are removed. Colors are still those of COLORS.
    """
    root = ElementTree.fromstring(text)
    _strip(root)
    _, _, width, height = root.attrib["viewBox"].split()
    used = _references(root)
    for element in root.iter():
        _rewrite(element, used, prefix)
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": f"0 0 {float(width):g} {float(height):g}",
            "width": f"{float(width):g}",
            "height": f"{float(height):g}",
            "role": "img",
        }
    )
    return root


def short(name: str) -> str:
    """Return a name as a label at an axis: printable, and at most LABEL_MAX characters."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= LABEL_MAX else plain[: LABEL_MAX - 1] + "…"


def _stable_hash(text: str) -> int:
    return zlib.crc32(text.encode(errors="replace"))


def _strip(element: ElementTree.Element) -> None:
    """Remove namespaces, comments and metadata."""
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.endswith("}metadata"):
            element.remove(child)
        else:
            _strip(child)
    element.tag = _NAMESPACE.sub("", element.tag)
    element.attrib.update(
        {_NAMESPACE.sub("", name): element.attrib.pop(name) for name in list(element.attrib)}
    )


def _references(root: ElementTree.Element) -> set[str]:
    """Return the ids that other elements refer to."""
    used = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(_REFERENCE.findall(value))
        used.add(element.attrib.get("href", "").lstrip("#"))
    return used


def _rewrite(element: ElementTree.Element, used: set[str], prefix: str) -> None:
    """Prefix the ids that are used and remove the others; shorten numbers and styles."""
    attributes = element.attrib
    if attributes.get("id") in used:
        attributes["id"] = prefix + attributes["id"]
    else:
        attributes.pop("id", None)
    for name, value in list(attributes.items()):
        if name == "href" and not value.startswith("data:"):
            attributes[name] = "#" + prefix + value.lstrip("#")
        elif name in ("d", "x", "y", "width", "height", "transform", "points"):
            attributes[name] = _NUMBER.sub(_rounded, " ".join(value.split()))
        else:
            attributes[name] = _REFERENCE.sub(rf"url(#{prefix}\1)", value)
    if element.tag == "text" and "style" in attributes:
        attributes["style"] = _text_style(attributes["style"])


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.1f}".removesuffix(".0")


def _text_style(style: str) -> str:
    """Return a text's style without the font family, so that the page's font is inherited."""
    properties = (part.strip() for part in style.split(";"))
    return "; ".join(part for part in properties if part and not part.startswith("font-family"))
