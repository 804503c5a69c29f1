"""`python -m tools.generate`: write everything in the README and the docs that follows from code and measurements.

The comparison with the papers takes half a minute; benchmarks are not run, their last kept run is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools import command_page, house_map, joint_questions, papers_table, ratio_tables, study_file_page
from tools import robot_file_page as reference

ROOT = Path(__file__).parents[1]

PAGES: dict[str, Callable[[], str]] = {
    "docs/robot-file-reference.md": reference.page,
    "docs/study-file-reference.md": study_file_page.page,
    "docs/command-line.md": command_page.page,
}
"""Files that are written as a whole."""

TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {
        "joints": joint_questions.table,
        "reproduced": papers_table.in_readme,
        "ratios": ratio_tables.short_table,
    },
    "docs/index.md": {"joints": joint_questions.table},
    "docs/architecture.md": house_map.TABLES,
    "docs/papers.md": {"reproduced": papers_table.in_docs, "reasons": papers_table.reasons},
    "docs/speed.md": {"all ratios": ratio_tables.whole_table},
}
"""Tables that stand between two marks of a file."""


def split(text: str, name: str) -> tuple[str, str, str]:
    """What stands before, between and behind the marks of a table."""
    before, begin, rest = text.partition(f"<!-- begin: {name} -->\n")
    between, end, behind = rest.partition(f"<!-- end: {name} -->")
    if not begin or not end:
        raise LookupError(f"there is no table between the marks 'begin: {name}' and 'end: {name}'")
    return before + begin, between, end + behind


def with_table(text: str, name: str, table: str) -> str:
    """The text with another table between its marks."""
    before, _, behind = split(text, name)
    return f"{before}\n{table}\n\n{behind}"


def main() -> None:
    for path, page in PAGES.items():
        (ROOT / path).write_text(page(), encoding="utf-8")
    for path, tables in TABLES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        for name, table in tables.items():
            text = with_table(text, name, table())
        (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
