"""`vertebra optimise`: which values of a study's variables are best; and the robot files of the designs that are."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import ResumeOption, SchedulerOption, WorkersOption
from vertebra.cli.progress import progress_bar
from vertebra.cli.sweep import kept_rows
from vertebra.errors import InputError


class SearchName(StrEnum):
    """How designs are looked for."""

    AUTO = "auto"
    GRADIENT = "gradient"
    CMA = "cma"
    NSGA2 = "nsga2"


def optimise(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY",
            help="Path of a study file (YAML or JSON); with --pick also of a result of this command (.nc or .json).",
        ),
    ],
    method: Annotated[
        SearchName | None, typer.Option("--method", help="How designs are looked for; default: as the study says.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", metavar="N", help="Rows at most; default: as the study says.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Of the random numbers; default: as the study says.")
    ] = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    resume: ResumeOption = False,
    pick: Annotated[
        str | None,
        typer.Option(
            "--pick",
            metavar="DESIGN",
            help="Print the robot file of one design, or write it to --out: its number, middle, or the objective that "
            "it is best in; best where there is one objective.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Interactive page (.html), picture (.png, .svg), table of all rows (.csv), netCDF (.nc) or .json; "
            "with --pick a robot file (.yaml, .json).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Which values of a study's variables are best, within its constraints?

    The study says what is wanted: `optimise: {objectives: {mass: minimise}, constraints: ...}`. Of several objectives
    comes the Pareto front: designs none of which is better than another in every objective. On the page each is one
    click from its robot file; a result that was written as .nc or .json keeps them all for --pick.

    With --out, rows are kept in the folder OUT.parts as they are done; --resume goes on with those of a run that was
    interrupted.

    vertebra optimise study.yaml --out front.html

    vertebra optimise study.yaml --out front.nc

    vertebra optimise front.nc --pick middle --out robot.yaml
    """
    import vertebra
    from vertebra.report.optimise import OPTIMISE_FILES, ROBOT_FILES, optimise_report, robot_file_report
    from vertebra.studies.optimise import is_result, picked
    from vertebra.studies.study import Study

    require_suffix(out, OPTIMISE_FILES if pick is None else ROBOT_FILES)
    if is_result(study):
        given = {"method": method, "evaluations": evaluations, "seed": seed, "workers": workers, "scheduler": scheduler,
                 "resume": resume or None}  # fmt: skip
        for name in [name for name, value in given.items() if value is not None]:
            raise CommandError(f"--{name}: {study} is a result, from which nothing is computed; leave it out")
        if pick is None:
            raise CommandError(f"STUDY {study}: this is a result; add --pick for one of its designs, or give a study")
        try:
            text = picked(study, pick)
        except InputError as error:
            lead = f"--pick {pick}" if error.argument == "member" else "STUDY"
            raise CommandError(f"{lead}: {error.message}") from None
        answer(robot_file_report(text), out, as_json)
        return
    read = Study.read(study)
    with kept_rows(out, resume) as store:
        with progress_bar(read.name, "rows") as progress:
            found = vertebra.optimise(
                read, method=None if method is None else method.value, evaluations=evaluations, seed=seed,
                workers=workers, scheduler=scheduler, store=store, progress=progress,
            )  # fmt: skip
        report = optimise_report(found)
        if pick is not None:
            try:
                report = robot_file_report(found.robot_file(pick))
            except InputError as error:
                raise CommandError(f"--pick {pick}: {error.message}") from None
        answer(report, out, as_json)
