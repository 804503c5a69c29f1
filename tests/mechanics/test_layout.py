"""Names in compiled code have one meaning each: no two columns, kernels or constants share one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from vertebra.mechanics import compiled, layout

FOLDER = Path(layout.__file__).parent
FILES = [FOLDER / "layout.py", *sorted((FOLDER / "kernels").glob("*.py"))]
DECORATORS = {name for name in vars(compiled) if name in ("kernel", "inner", "inlined", "merged")}


def defined(path: Path) -> list[str]:
    """Names that a file defines at its top level, each as often as it does."""
    names: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return names


def test_no_two_columns_kernels_or_constants_share_a_name():
    found = defaultdict(list)
    for path in FILES:
        for name in defined(path):
            found[name].append(path.name)
    assert len(found) > 300
    twice = {name: files for name, files in found.items() if len(files) > 1}
    assert not twice


def columns() -> dict[str, dict[str, int]]:
    """Columns of each table of the layout, by the first word of their names, and the sizes of tables."""
    tables: dict[str, dict[str, int]] = defaultdict(dict)
    for name in defined(FOLDER / "layout.py"):
        value = getattr(layout, name)
        if isinstance(value, int):
            table, _, column = name.partition("_")
            tables[table][column] = value
    return tables


def test_columns_of_a_table_do_not_overlap_and_fit_its_width():
    for table, its in columns().items():
        sizes = {its.pop(word) for word in ("WIDTH", "PLANES", "ROWS") if word in its}
        wider = {its.pop(word) for word in ("SPATIAL_WIDTH", "SPATIAL_PLANES") if word in its}
        numbers = [value for column, value in its.items() if not column.endswith(("_COLUMN", "FIRST_POWER"))]
        assert len(set(numbers)) == len(numbers), table
        assert len(sizes) <= 1, table
        assert all(0 <= number < max(sizes | wider, default=number + 1) for number in numbers), table


def test_every_function_of_the_kernels_is_compiled():
    """Any other would go unchecked: mypy does not look at kernels, and numba looks at nothing else."""
    for path in FILES[1:]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
                assert marks & DECORATORS, f"{path.name}: {node.name}"
