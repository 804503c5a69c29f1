"""`vertebra robots`: the presets, one robot in detail, checks of robot files, and their JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, plain, problem_records, require_suffix
from vertebra.cli.options import ANGLE, one_or_each
from vertebra.errors import DescriptionError

if TYPE_CHECKING:
    from vertebra.report.document import Facts

app = typer.Typer(help="List the presets; show, check and draw robots.", invoke_without_command=True)

NameOrFile = Annotated[str, typer.Argument(metavar="NAME_OR_FILE", help="Preset name or path of a robot file.")]


@app.callback()
def list_presets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the robots that come with Vertebra; show, check and draw any robot."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise CommandError(
                f"write --json after the command: vertebra robots {context.invoked_subcommand} ... --json"
            )
        return
    from vertebra.report.document import Report
    from vertebra.report.robot import preset_record, presets_table
    from vertebra.robot.robot import load, presets

    robots = [load(name) for name in presets()]
    records = [preset_record(robot) for robot in robots]
    answer(Report("presets", lambda: records, tables=lambda: [presets_table(robots)]), None, as_json)


@app.command()
def show(
    robot: NameOrFile,
    bend: Annotated[
        str | None, typer.Option("--bend", help='Pose of the picture: "15 deg" for all, or a comma-separated list.')
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Picture (.html, .png, .svg) or robot file in SI (.yaml, .json).")
    ] = None,
    file: Annotated[bool, typer.Option("--file", help="The robot file itself, with its comments.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one robot: its joints, links and cables; write a picture of it, or its file.

    Start a robot of your own from a preset: vertebra robots show hu2023-prototype --file --out mine.yaml
    """
    from vertebra.report.document import PICTURES
    from vertebra.report.robot import FILES, robot_report
    from vertebra.robot.robot import load

    as_written = (".json",) if robot.lower().endswith(".json") else (".yaml", ".yml")
    require_suffix(out, as_written if file else FILES)
    model = load(robot)
    if bend is not None and (out is None or file or out.suffix.lower() not in PICTURES):
        raise CommandError(f"--bend is the pose of a picture: add --out with a name in {', '.join(PICTURES)}")
    if file:
        text = _text_of(robot)
        report = robot_report(model)
        record = report.record() | {"text": text}
        answer(replace(report, record=lambda: record, texts={}, tables=tuple, text=lambda: text), out, as_json)
        return
    angles = None if bend is None else one_or_each("--bend", bend, ANGLE, model.freedoms, "joint coordinate")
    words = f", bent {bend.strip()}" if bend is not None and len(bend) < 40 else ""
    answer(robot_report(model, angles, model.name + words), out, as_json)


def _text_of(name_or_file: str) -> str:
    """The robot file of a preset or a path, with its comments."""
    from vertebra.robot.reading import preset_names, preset_text

    if name_or_file in preset_names():
        return preset_text(name_or_file)
    return Path(name_or_file).read_text(encoding="utf-8-sig")


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Robot files (YAML or JSON) or preset names.")],
    as_json: AsJson = False,
) -> None:
    """Check robot files: every wrong field with its path, what is allowed and what was found.

    Notes say what is allowed but may be a mistake, such as a forgotten unit; they change no exit code.
    """
    from vertebra.report.document import Report

    results = [check_file(file) for file in files]
    good, wrong = [each for each in results if each.ok], [each for each in results if not each.ok]
    summaries = "".join(f"ok: {plain(each.summary)}\n" for each in good)
    report = Report(
        "robot files",
        record=lambda: [each.record() for each in results],
        tables=lambda: [each.table() for each in wrong],
        text=(lambda: summaries) if summaries else None,
        notes=tuple(f"{each.file}: {note}" for each in good for note in each.notes),
        failures=tuple(f"wrong: {each.file}" for each in wrong),
    )
    answer(report, None, as_json)


@dataclass(frozen=True)
class Check:
    """Outcome for one file."""

    file: str
    summary: str
    """One line about the robot; empty when the file is wrong."""
    error: DescriptionError | None
    notes: tuple[str, ...]
    """What is allowed but may be a mistake."""

    @property
    def ok(self) -> bool:
        return self.error is None

    def record(self) -> dict[str, Any]:
        """The outcome as JSON."""
        problems = problem_records(self.error) if self.error else []
        return {"file": self.file, "ok": self.ok, "problems": problems, "notes": list(self.notes)}

    def table(self) -> Facts:
        """Every wrong field."""
        from vertebra.report.document import Facts

        rows = tuple((p["path"], p["message"], p["found"]) for p in self.record()["problems"])
        count = f"{len(rows)} problem{'s' if len(rows) > 1 else ''}"
        return Facts(f"{self.file}: {count}", ("path", "problem", "found"), rows)


def check_file(file: str) -> Check:
    """Read and validate one robot file or preset."""
    from vertebra.robot.robot import load

    try:
        robot = load(file)
    except DescriptionError as error:
        return Check(file, "", error, ())
    return Check(file, repr(robot), None, robot.notes())


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option("--out", help="Write this file instead of printing it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of the robot file, for editors that complete and check while you type."""
    from vertebra.report.document import Report, json_text
    from vertebra.robot.description import json_schema

    schema = json_schema()
    record = schema if out is None else {}
    answer(Report("robot file", lambda: record, text=lambda: json_text(schema)), out, as_json)
