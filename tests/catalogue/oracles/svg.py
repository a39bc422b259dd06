"""SVG: well-formed for `xml.etree`, and a drawing: known elements with the numbers they need."""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
NEEDED = {
    "svg": "viewBox",
    "title": "",
    "g": "",
    "text": "x y",
    "rect": "x y width height",
    "circle": "cx cy r",
    "ellipse": "cx cy rx ry",
    "line": "x1 y1 x2 y2",
    "polyline": "points",
    "polygon": "points",
    "path": "d",
}
NUMBERS = {"points": 2, "viewBox": 4}
ARGUMENTS = {"M": 2, "L": 2, "T": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "A": 7, "Z": 0}


def complaint(text: str) -> str | None:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return str(error)
    if root.tag != f"{SVG}svg":
        return f"the root is {root.tag}"
    for element in root.iter():
        name = element.tag.removeprefix(SVG)
        if name not in NEEDED:
            return f"<{name}> is not known"
        for attribute in NEEDED[name].split():
            value = element.get(attribute)
            reason = "is missing" if value is None else _wrong(attribute, value)
            if reason:
                return f"{attribute} of <{name}> {reason}"
    return None


def _wrong(attribute: str, value: str) -> str | None:
    """What is wrong with numbers, points or the data of a path."""
    if attribute == "d":
        parts = re.split("([A-DF-Za-df-z])", value)
        if parts[0].strip() or parts[1:2] not in (["M"], ["m"]):
            return "does not begin with M"
        pairs = list(zip(parts[1::2], parts[2::2], strict=True))
    else:
        pairs = [("", value)]
    for letter, numbers in pairs:
        found = re.split("[ ,]", numbers.strip()) if numbers.strip() else []
        try:
            count = len([float(number) for number in found])
        except ValueError as error:
            return str(error)
        step = ARGUMENTS.get(letter.upper()) if letter else NUMBERS.get(attribute, 1)
        if step is None or (count % step if step else count):
            return f"has {count} numbers after {letter!r}"
        if not count and step:
            return "has no numbers"
    return None
