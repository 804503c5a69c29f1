"""`vertebra uncertainty`: how uncertain the quantities of a study are, and which of its tolerances are to blame."""

from __future__ import annotations

from typing import Annotated

import typer

from vertebra.cli.answer import AsJson, answer, require_suffix
from vertebra.cli.options import ResumeOption, SchedulerOption, StudyArgument, StudyOutOption, WorkersOption
from vertebra.cli.progress import progress_bar
from vertebra.cli.sweep import kept_rows


def uncertainty(
    study: StudyArgument,
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", help="Base rows; default: the count of the study's `samples`."),
    ] = None,
    no_indices: Annotated[
        bool,
        typer.Option(
            "--no-indices", help="Compute one robot per base row; shares of the variance are then to first order only."
        ),
    ] = False,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="C", help="Of all confidence intervals, 0.5 to 0.999.")
    ] = 0.95,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    resume: ResumeOption = False,
    out: StudyOutOption = None,
    as_json: AsJson = False,
) -> None:
    """How uncertain are the quantities of a study, and which of its tolerances are to blame?

    Everything that varies must have a distribution or a range. Robots are drawn at random: for each base row as many as
    there are variables, and two more. From these follow the distributions, and the share of each variable in the
    variance, alone and with interactions (Sobol indices). What derivatives say, to first order, stands beside them.

    With --out, rows are kept in the folder OUT.parts as they are done; --resume goes on with those of a run that was
    interrupted.

    vertebra uncertainty study.yaml

    vertebra uncertainty study.yaml --count 4096 --out page.html
    """
    import vertebra
    from vertebra.report.uncertainty import UNCERTAINTY_FILES, uncertainty_report
    from vertebra.studies.study import Study

    require_suffix(out, UNCERTAINTY_FILES)
    read = Study.read(study)
    with kept_rows(out, resume) as store:
        with progress_bar(read.name, "rows") as progress:
            found = vertebra.monte_carlo(
                read, count=count, indices=not no_indices, confidence=confidence, workers=workers,
                scheduler=scheduler, store=store, progress=progress,
            )  # fmt: skip
        answer(uncertainty_report(found), out, as_json)
