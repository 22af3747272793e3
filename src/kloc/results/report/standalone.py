# SPDX-License-Identifier: GPL-2.0
"""Makes matplotlib's SVG a small file of its own, which a page shows as an image.

- Its colors are those of reports, and follow the light or the dark style of the reader.
- Text stays text, in a font that the reader's system has.
- It has no scripts and no links, and a title and a description for screen readers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from kloc.results.report.figure import COLORS, cleaned

STYLE_SHEET = Path(__file__).parent / "templates" / "style.css"
"""The style of reports, which has the colors."""

NAMESPACE = "http://www.w3.org/2000/svg"

_VARIABLE = re.compile(r"--([\w]+): (#[0-9a-f]{6});")
_FONT = re.compile(r"font: [^;]*? (system-ui[^;]*);")
_DARK = "@media screen and (prefers-color-scheme: dark)"
_NO_ROTATION = re.compile(r"rotate\(-?0 ")
_PATH = re.compile(r"[MLz]|-?[\d.]+")

SCALE = 10
"""Coordinates are multiples of a pixel divided by this."""


def standalone(text: str, title: str, description: str) -> str:
    """Return the SVG that matplotlib wrote as a file of its own.

    `title` and `description` are what screen readers read.
    """
    root = cleaned(text, "")
    _simplify(root)
    style = ElementTree.Element("style")
    style.text = _rules(root)
    labels = []
    for tag, content in (("title", title), ("desc", description)):
        label = ElementTree.Element(tag, {"id": tag})
        label.text = printable(content)
        labels.append(label)
    root.attrib = {"xmlns": NAMESPACE, **root.attrib, "aria-labelledby": "title desc"}
    root[:0] = [*labels, style]
    svg = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", "><", svg).replace(" />", "/>") + "\n"


def printable(text: str) -> str:
    """Return the text with "?" for control characters, which no XML can have."""
    return "".join(letter if letter.isprintable() or letter == " " else "?" for letter in text)


def palettes() -> tuple[dict[str, str], dict[str, str]]:
    """Return the colors of the light style and of the dark one, by name."""
    light, dark = STYLE_SHEET.read_text(encoding="utf-8").split(_DARK)
    first = dark.split("}", 1)[0]
    return dict(_VARIABLE.findall(light)), dict(_VARIABLE.findall(first))


def _font() -> str:
    """Return the fonts of reports."""
    found = _FONT.search(STYLE_SHEET.read_text(encoding="utf-8"))
    assert found
    return found[1]


def _simplify(element: ElementTree.Element) -> None:
    """Remove what an image does not need: clips, groups, what is invisible; shorten paths.

    Nothing is drawn outside of its axes, so that clips change nothing.
    """
    children: list[ElementTree.Element] = []
    for child in element:
        _simplify(child)
        child.attrib.pop("clip-path", None)
        if _NO_ROTATION.match(child.get("transform", "")):
            del child.attrib["transform"]
        if "d" in child.attrib:
            child.attrib["d"] = shorter(child.attrib["d"])
        is_empty = child.tag in ("defs", "g") and not len(child)
        if is_empty or child.tag in ("clipPath", "style") or child.get("style") == "fill: none":
            continue
        children += list(child) if child.tag == "g" and not child.attrib else [child]
    element[:] = _merged(children)


def _merged(children: Sequence[ElementTree.Element]) -> list[ElementTree.Element]:
    """Return the elements with successive paths of the same style as one; none overlap."""
    merged: list[ElementTree.Element] = []
    for child in children:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.tag == child.tag == "path"
            and last.attrib.keys() == child.attrib.keys() == {"d", "style"}
            and last.attrib["style"] == child.attrib["style"]
        ):
            last.attrib["d"] += child.attrib["d"]
        else:
            merged.append(child)
    return merged


def shorter(path: str) -> str:
    """Return a path of straight lines in relative coordinates; another path as it is."""
    words = _PATH.findall(path)
    if re.sub(r"[MLz\s.\d-]", "", path):
        return path
    out: list[str] = []
    at = (0, 0)
    for number, word in enumerate(words):
        if word == "z":
            out.append("z")
        elif word in "ML":
            x, y = (round(SCALE * float(value)) for value in words[number + 1 : number + 3])
            across, down = x - at[0], y - at[1]
            if word == "M":
                out.append(f"M{_number(x)} {_number(y)}")
            elif not down:
                out.append(f"h{_number(across)}" if across else "")
            elif not across:
                out.append(f"v{_number(down)}")
            else:
                out.append(f"l{_number(across)} {_number(down)}")
            at = (x, y)
    return "".join(out)


def _number(value: int) -> str:
    return f"{value / SCALE:g}"


def _rules(root: ElementTree.Element) -> str:
    """Replace the style of each element by a class, and return the style sheet of the classes."""
    names: dict[str, str] = {}
    for element in root.iter():
        if style := element.attrib.pop("style", ""):
            element.attrib["class"] = names.setdefault(style, f"s{len(names)}")
    light, dark = palettes()
    rules = [
        f"text{{font-family:{_font()};paint-order:stroke;stroke:{light['paper']};"
        "stroke-width:4px;stroke-linejoin:round}"
    ]
    rules += [f".{name}{{{_colored(style, light)}}}" for style, name in names.items()]
    changed = [f"text{{stroke:{dark['paper']}}}"]
    for style, name in names.items():
        parts = [part for part in style.split(";") if any(c in part for c in COLORS.values())]
        if parts:
            changed.append(f".{name}{{{_colored(';'.join(parts), dark)}}}")
    return "".join([*rules, f"@media (prefers-color-scheme:dark){{{''.join(changed)}}}"])


def _colored(style: str, palette: dict[str, str]) -> str:
    """Return a style in the colors of a palette, without spaces that it does not need."""
    for name, color in COLORS.items():
        if color in style:
            style = style.replace(color, palette[name])
    return ";".join(re.sub(r":\s+", ":", part.strip()) for part in style.split(";") if part.strip())
