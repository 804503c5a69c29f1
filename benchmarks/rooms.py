"""The modules that measure, and a fingerprint of what each one measures."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

ROOMS = (
    "kinematics",
    "statics",
    "derivatives",
    "friction",
    "payload",
    "dynamics",
    "sensing",
    "studies",
    "startup",
    "studio",
)


def fingerprints(folder: Path = Path(__file__).parent) -> dict[str, str]:
    """Of every room: it changes with the texts and numbers of its rows, not with its comments or its layout.

    A row that is new, renamed or measured at another size cannot do without another text or number.
    """
    return {room: fingerprint((folder / f"{room}.py").read_text(encoding="utf-8")) for room in ROOMS}


def fingerprint(source: str) -> str:
    tree = ast.parse(source)
    notes = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    values = [repr(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in notes]
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:16]
