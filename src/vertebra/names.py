"""Public names of a package, imported on first use; the stub beside its `__init__.py` is the one list of them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(package: str, init: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports of its stub (`__init__.pyi`).

    `import vertebra` and `vertebra --help` thus load neither numba nor plotting, and type checkers read the same list.
    """
    stub = ast.parse(Path(init).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        name.name: str(line.module) for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), list(homes)
