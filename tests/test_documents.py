"""What the README and the docs say is true: examples run, commands parse, links lead somewhere."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer
from markdown.extensions.toc import slugify

import vertebra as vb
from vertebra.cli.commands import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "vertebra"
COMMAND = typer.main.get_command(app)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def commands(page):
    """Words of every `vertebra` command in the shell blocks of a page."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["vertebra"]:
                yield words


def headings(page):
    """Anchors of a page, as the site has them: of its headings, or set by hand."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        by_hand = re.search(r"\{ #(\S+) \}$", title)
        yield by_hand.group(1) if by_hand else slugify(title.replace("`", ""), "-")


EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(blocks(page, "python"), 1)
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})


def test_the_example_of_the_readme_is_short():
    (code,) = blocks(ROOT / "README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 17


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_parse(page):
    for words in commands(page):
        command, rest = COMMAND, words[1:]
        while hasattr(command, "commands") and rest and rest[0] in command.commands:
            command, rest = command.commands[rest[0]], rest[1:]
        callable_alone = not hasattr(command, "commands") or command.invoke_without_command
        assert callable_alone, f"{page.name}: there is no command {shlex.join(words)}"
        try:
            command.make_context(words[0], rest)
        except Exception as error:
            raise AssertionError(f"{page.name}: {shlex.join(words)}: {error}") from error


def robot_of(page, tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(blocks(page, "yaml")[0], encoding="utf-8")
    return vb.load(path)


def test_robot_file_of_the_reference_loads(tmp_path):
    robot = robot_of(ROOT / "docs" / "robot-file.md", tmp_path)
    assert robot.mass == pytest.approx(vb.load("hu2023-prototype").mass)


def test_robot_file_of_the_first_steps_has_a_shape(tmp_path):
    robot = robot_of(ROOT / "docs" / "start.md", tmp_path)
    assert vb.shape_from_tensions(robot, [6, 5, 4, 5]).stable


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            linked = page.parent / name if name else page
            assert linked.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in set(headings(linked)), f"{page.name} links to {target}"


def test_what_the_map_says_to_change_is_in_one_place() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    text = page.split("## Where to change", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| [^|]+ \| `([^`|]+)` \| `(\w+)` \|$", text, re.MULTILINE)
    assert len(rows) >= 5
    sources = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    for place, name in rows:
        defined = {path for path, tree in sources.items() if name in _top_level(tree)}
        wanted = {path for path in sources if re.fullmatch(place.replace("<paper>", r"[a-z]+\d{4}"), path)}
        assert defined == wanted != set(), f"{name}: {sorted(defined)}"


def _top_level(tree: ast.Module) -> set[str]:
    """Names that a module defines."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return found
