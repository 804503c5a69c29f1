"""Writing XML: numbers that read back exactly, and any robot name made safe."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float) -> str:
    """Shortest text that reads back as the same float; minus zero is written as zero."""
    return repr(float(value) + 0.0)


def numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)


def legal(text: str) -> str:
    """Without the characters that no XML file may hold."""
    return _ILLEGAL.sub("?", text)


def document(paragraphs: Sequence[str], root: ElementTree.Element) -> str:
    """An XML file: the paragraphs as a leading comment, then the indented tree."""
    ElementTree.indent(root)
    return comment(paragraphs) + ElementTree.tostring(root, encoding="unicode") + "\n"


def comment(paragraphs: Sequence[str]) -> str:
    # XML forbids two hyphens in a row inside a comment.
    lines = [
        line
        for paragraph in paragraphs
        for line in textwrap.wrap(legal(paragraph).replace("--", "- -").replace("--", "- -"), width=110)
    ]
    return "<!--\n" + "".join(f"  {line}\n" for line in lines) + "-->\n"
