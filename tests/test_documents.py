"""Every Python example in the README and the docs runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})


def test_robot_file_of_the_reference_loads(tmp_path):
    import vertebra as vb

    text = (ROOT / "docs" / "robot-file.md").read_text(encoding="utf-8")
    path = tmp_path / "robot.yaml"
    path.write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1), encoding="utf-8")
    assert vb.load(path).mass == pytest.approx(vb.load("hu2023-prototype").mass)


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
