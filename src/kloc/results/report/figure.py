# SPDX-License-Identifier: GPL-2.0
"""Draws with matplotlib and turns its SVG into one that lives inside the page.

Text stays text and takes the page's font; colours become the page's CSS variables, so that they
follow light and dark; no id, namespace or link is left that could clash or lead outside.
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
"""Of every figure, in CSS pixels: it fits a phone, and several stand side by side on a desk."""

LABEL_MAX = 20
"""Characters of a name beside an axis; a longer one is cut, and the table has all of it."""

COLOURS = {
    name: f"#0{place:02x}b0{place % 10}"
    for place, name in enumerate(
        (
            *("ink", "soft", "line", "paper", "accent", "muted", "neutral", "blank", "dark"),
            *("blue", "orange", "yellow", "green", "vermillion", "purple", "sky", "grey", "slate"),
        )
    )
}
"""What matplotlib is told to draw with, by the CSS variable that takes its place."""

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kloc",
    "font.size": 12,
    "text.parse_math": False,
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["line"],
    "axes.facecolor": "none",
    "axes.labelcolor": COLOURS["soft"],
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.8,
    "xtick.color": COLOURS["line"],
    "xtick.labelcolor": COLOURS["soft"],
    "xtick.major.size": 0,
    "ytick.color": COLOURS["line"],
    "ytick.labelcolor": COLOURS["ink"],
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
    """Numbers as text; the first `names` columns are what a row is called."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    marked: frozenset[int] = frozenset()
    """The rows to be highlighted."""


@dataclass(frozen=True)
class Figure:
    """A drawing, what it shows in full (`title`) and beside its like, and the numbers behind it."""

    title: str
    svg: str
    table: Table | None = None
    caption: str = ""


@dataclass
class Sheet:
    """A figure being drawn: matplotlib's own objects, and after the block the finished SVG."""

    plot: Plot
    axes: list[Axes] = field(default_factory=list)
    svg: str = ""


@contextmanager
def drawing(title: str, height: int, rows: int = 1, left: int = 84) -> Iterator[Sheet]:
    """Give a sheet of `height` pixels with `rows` axes that share one x axis; `svg` is set after.

    `left` are the pixels beside the axes for labels. What the drawing shows for those who do not
    see it is `title`.
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
        buffer = io.StringIO()
        with warnings.catch_warnings():
            # A name in a script that matplotlib's font lacks: the page's font draws the text.
            warnings.filterwarnings("ignore", message="Glyph")
            plot.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    sheet.svg = inline(buffer.getvalue(), title)


def inline(text: str, title: str) -> str:
    """Return matplotlib's SVG as it can stand within an HTML page, called `title`."""
    root = ElementTree.fromstring(text)
    _strip(root)
    _, _, width, height = root.attrib["viewBox"].split()
    prefix = f"f{abs(_stable_hash(text + title)):x}-"
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
            "aria-labelledby": prefix + "title",
        }
    )
    label = ElementTree.Element("title", {"id": prefix + "title"})
    label.text = title
    root.insert(0, label)
    svg = ElementTree.tostring(root, encoding="unicode")
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    return re.sub(r">\s+<", "><", svg)


def short(name: str) -> str:
    """Return a name as it stands beside an axis."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= LABEL_MAX else plain[: LABEL_MAX - 1] + "…"


def _stable_hash(text: str) -> int:
    return zlib.crc32(text.encode(errors="replace"))


def _strip(element: ElementTree.Element) -> None:
    """Take namespaces, comments and metadata away."""
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
    used = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(_REFERENCE.findall(value))
        used.add(element.attrib.get("href", "").lstrip("#"))
    return used


def _rewrite(element: ElementTree.Element, used: set[str], prefix: str) -> None:
    attributes = element.attrib
    if attributes.get("id") in used:
        attributes["id"] = prefix + attributes["id"]
    else:
        attributes.pop("id", None)
    for name, value in list(attributes.items()):
        if name == "href":
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
    """Keep size, weight and alignment; the family is the page's."""
    kept = []
    for part in style.split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            kept.append(f"font-size: {size[1] if size else '12'}px")
            if weight := re.match(r"(bold|[6-9]00)\b", value):
                kept.append(f"font-weight: {weight[1]}")
        elif name:
            kept.append(f"{name}: {value}")
    return "; ".join(kept)
