"""`vertebra export`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import vertebra as vb

ROOTS = {"mjcf": "mujoco", "urdf": "robot"}


@pytest.mark.parametrize("form", ROOTS)
def test_prints_xml(vertebra, form: str) -> None:
    ran = vertebra("export", "hu2023-planar", "--to", form)
    assert ran.code == 0
    assert ElementTree.fromstring(ran.out).tag == ROOTS[form]


@pytest.mark.parametrize("form", ROOTS)
def test_writes_a_file(vertebra, tmp_path: Path, form: str) -> None:
    path = tmp_path / "model.xml"
    ran = vertebra("export", "hu2023-planar", "--to", form, "--out", str(path))
    assert (ran.code, ran.out) == (0, "")
    assert str(path) in ran.err
    assert ElementTree.parse(path).getroot().tag == ROOTS[form]


@pytest.mark.parametrize(("name", "root"), [("model.xml", "mujoco"), ("model.URDF", "robot")])
def test_format_follows_the_name_of_the_file(vertebra, tmp_path: Path, name: str, root: str) -> None:
    assert vertebra("export", "hu2023-planar", "--out", str(tmp_path / name)).code == 0
    assert ElementTree.parse(tmp_path / name).getroot().tag == root


@pytest.mark.parametrize("out", [(), ("--out", "model.sdf")])
def test_no_format_at_all(vertebra, out: tuple[str, ...]) -> None:
    ran = vertebra("export", "hu2023-planar", *out)
    assert (ran.code, ran.out) == (2, "")
    assert "--to mjcf, --to urdf" in ran.err


@pytest.mark.parametrize("form", ROOTS)
def test_json(vertebra, tmp_path: Path, form: str) -> None:
    record = vertebra("export", "hu2023-planar", "--to", form, "--json").json
    assert (record["robot"], record["format"]) == ("hu2023-planar", form)
    function = vb.Robot.to_mjcf if form == "mjcf" else vb.Robot.to_urdf
    assert record["xml"] == function(vb.load("hu2023-planar"))
    path = str(tmp_path / "model.xml")
    record = vertebra("export", "hu2023-planar", "--to", form, "--out", path, "--json").json
    assert record == {"robot": "hu2023-planar", "format": form, "out": path}


def test_unknown_format(vertebra) -> None:
    ran = vertebra("export", "hu2023-planar", "--to", "sdf")
    assert ran.code == 2
    assert "mjcf" in ran.err
    assert "urdf" in ran.err
