"""`vertebra shape --branches`: all stable shapes of the same tensions."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import vertebra as vb

ROBOT = "hu2023-prototype"


def test_branches(vertebra, tmp_path: Path) -> None:
    found = vb.equilibria(vb.load(ROBOT), [1] * 4)
    assert len(found.shapes) > 1
    record = vertebra("shape", ROBOT, "-t", "1", "--branches", "--json").json
    assert [shape["energy"] for shape in record["shapes"]] == [shape.energy for shape in found.shapes]
    assert (record["reached"], record["counts"]) == (found.reached, list(found.counts))
    shown = vertebra("shape", ROBOT, "-t", "1", "--branches")
    assert shown.code == 0
    assert f"{len(found.shapes)} stable shapes of {ROBOT}" in shown.out
    assert shown.out.count("yes") == 1
    assert max(map(len, shown.out.splitlines())) <= 80
    for i, shape in enumerate(found.shapes, 1):
        assert re.search(rf"^ *{i} +\({shape.tip[0] * 1e3:.2f}".replace("-0.00", "0.00"), shown.out, re.MULTILINE)


@pytest.mark.parametrize("suffix", [".html", ".png", ".csv", ".json"])
def test_branches_into_a_file(vertebra, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"branches{suffix}"
    assert vertebra("shape", ROBOT, "-t", "1", "--branches", "--out", str(path)).code == 0
    if suffix == ".html":
        text = path.read_text(encoding="utf-8")
        assert "branch 2, " in text
        assert "branch 1 of " in text
    elif suffix == ".csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert {row["branch"] for row in rows} >= {"1", "2"}
        assert len(rows) % 11 == 0


def test_branches_without_a_stable_shape(vertebra) -> None:
    ran = vertebra("shape", ROBOT, "-t", "0", "--branches")
    assert (ran.code, ran.out) == (2, "")
    assert "no stable shape within the range of every joint" in ran.err
