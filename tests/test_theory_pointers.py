"""Comments that say "theory 3.2" point into docs/theory.md: the section exists, and each physical one is pointed to."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "theory.md"
FOLDERS = ("src/vertebra", "benchmarks", "tests")

GAP = r"\s+(?:#\s*)?"  # also across the end of a line, inside a comment
NUMBER = r"\d+(?:\.\d+)*"
POINTER = re.compile(
    rf"\btheory(?:,?{GAP}sections?)?{GAP}({NUMBER}(?:(?:,(?:{GAP}and)?|{GAP}and|{GAP}or|{GAP}to){GAP}{NUMBER})*)",
    re.IGNORECASE,
)
HEADING = re.compile(rf"^(##|###) ({NUMBER})(\.?) \S", re.MULTILINE)


def pointers(text: str) -> list[tuple[int, str]]:
    """Line and section number of every pointer in a text."""
    return [
        (text.count("\n", 0, found.start()) + 1, number)
        for found in POINTER.finditer(text)
        for number in re.findall(NUMBER, found.group(1))
    ]


def section_numbers() -> list[str]:
    """Numbers of the headings of the page, in order."""
    return [number for _, number, _ in HEADING.findall(PAGE.read_text(encoding="utf-8"))]


@cache
def texts() -> dict[Path, str]:
    """All Python files but this one, whose examples are no pointers."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {path: path.read_text(encoding="utf-8") for path in paths if path != Path(__file__)}


def is_kernel(text: str) -> bool:
    """Whether a file defines functions with the decorators of the module `compiled`."""
    tree = ast.parse(text)
    compilers = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == "compiled"
        for alias in node.names
    }
    return any(
        isinstance(decorator, ast.Name) and decorator.id in compilers
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    )


@cache
def kernels() -> list[str]:
    return [text for path, text in texts().items() if path.is_relative_to(ROOT / "src") and is_kernel(text)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("(theory 3)", ["3"]),
        ("Theory 2, holes on the arc", ["2"]),
        ("as theory 3.1 says. 4 links", ["3.1"]),
        ("theory 3 and 4.", ["3", "4"]),
        ("(theory 2, 5 and 7), with a", ["2", "5", "7"]),
        ("theory 2, 5, and 7.8", ["2", "5", "7.8"]),
        ("theory 6.1 to 6.3", ["6.1", "6.3"]),
        ("(theory, section 6)", ["6"]),
        ("theory, sections 6.1 or 6.11", ["6.1", "6.11"]),
        ("    # so says theory\n    # 4.6, weights", ["4.6"]),
        ("the theory's 427 rad/s; theory of one disc face; (theory: 3)", []),
    ],
)
def test_pointers_are_found(text, numbers):
    assert [number for _, number in pointers(text)] == numbers


def test_every_pointer_leads_to_a_section():
    sections = set(section_numbers())
    found = [(path, *pointer) for path, text in texts().items() for pointer in pointers(text)]
    assert found
    wrong = [
        f"{path.relative_to(ROOT)}:{line} points to theory {number}"
        for path, line, number in found
        if number not in sections
    ]
    assert not wrong, f"{PAGE.name} has no such section:\n" + "\n".join(wrong)


@pytest.mark.parametrize("section", ["2", "3", "4", "5", "6", "7"])
def test_kernels_point_to_every_section(section):
    assert kernels(), "no file imports the decorators of a module called `compiled`"
    assert any(number.split(".")[0] == section for text in kernels() for _, number in pointers(text))


def test_sections_are_numbered_in_order():
    """1., 2., ... and below each 1, 2, ... without gaps, so that a number is one place and stays there."""
    expected, last, sub = [], 0, 0
    for level, _, _ in HEADING.findall(PAGE.read_text(encoding="utf-8")):
        if level == "##":
            last, sub = last + 1, 0
            expected.append(f"{last}")
        else:
            sub += 1
            expected.append(f"{last}.{sub}")
    assert section_numbers() == expected
    assert all((level == "##") == (dot == ".") for level, _, dot in HEADING.findall(PAGE.read_text(encoding="utf-8")))
