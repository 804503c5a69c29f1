"""`vertebra sweep`: every row of a study file; and how all commands that compute rows of a study keep them as they are
done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.answer import AsJson, CommandError, Unmet, answer, print_json, require_suffix, say
from vertebra.cli.options import ResumeOption, SchedulerOption, StudyArgument, StudyOutOption, WorkersOption
from vertebra.cli.progress import progress_bar
from vertebra.errors import InputError

if TYPE_CHECKING:
    import xarray


def _print_schema(asked: bool) -> None:
    if asked:
        from vertebra.studies.study_file import json_schema

        print_json(json_schema())
        raise typer.Exit


def sweep(
    study: StudyArgument,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    resume: ResumeOption = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check the file and show what would be computed, without computing it.")
    ] = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema",
            callback=_print_schema,
            is_eager=True,
            help="Print the JSON Schema of the study file, for editors, and exit.",
        ),
    ] = False,
    out: StudyOutOption = None,
    as_json: AsJson = False,
) -> None:
    """Compute every row of a study: a robot, what varies, and the quantities that are asked for.

    With --out, rows are kept in a folder beside it as they are done, OUT.parts, which goes when the file is written.
    A run that was interrupted leaves it there, and --resume computes only what is missing.

    vertebra sweep study.yaml --check

    vertebra sweep study.yaml --out result.nc

    vertebra sweep study.yaml --out result.nc --resume
    """
    import vertebra
    from vertebra.report.sweep import SWEEP_FILES, study_report, sweep_report
    from vertebra.studies.study import Study

    require_suffix(out, SWEEP_FILES)
    read = Study.read(study)
    if check:
        if out is not None or resume:
            raise CommandError(f"{'--resume' if resume else '--out'}: --check computes nothing; leave one of them out")
        answer(study_report(read), None, as_json)
        return
    with kept_rows(out, resume) as store:
        with progress_bar(read.name, "rows") as progress:
            found: xarray.Dataset = vertebra.sweep(
                read, workers=workers, scheduler=scheduler, store=store, progress=progress
            )
        answer(sweep_report(read, found), out, as_json)


@contextmanager
def kept_rows(out: Path | None, resume: bool) -> Iterator[Path | None]:
    """The folder for rows that are done, beside `out`; None without `out`. Compute and write the answer inside: the
    folder is deleted after that, and left where something ends the run early."""
    if out is None:
        if resume:
            raise CommandError("--resume: rows are kept beside a file; give the --out of the run that was interrupted")
        yield None
        return
    folder = out.with_name(f"{out.name}.parts")
    if not out.parent.is_dir():
        raise CommandError(f"--out {out}: there is no folder {out.parent}; make it first, or choose another")
    folder.mkdir(exist_ok=True)
    before = rows_in(folder)
    if any(folder.iterdir()) and not (resume and before):
        what = f"holds {before:,} rows of a run that was interrupted" if before else "holds other files"
        remedy = "add --resume to go on with them, delete the folder, or" if before else "delete it, or"
        raise CommandError(f"--out {out}: {folder} {what}; {remedy} choose another name")
    if before:
        say(f"{before:,} rows are there already, in {folder}")
    elif resume:
        say(f"note: {folder} holds no rows to go on with; this run starts from the first")
    try:
        yield folder
    except Unmet:  # written all the same
        shutil.rmtree(folder)
        raise
    except BaseException as error:
        kept = rows_in(folder)
        if not any(folder.iterdir()):
            folder.rmdir()
        elif kept and not (isinstance(error, InputError) and error.argument == "store"):
            say(f"{kept:,} rows are kept in {folder}; add --resume to go on with them")
        if isinstance(error, InputError) and error.argument == "store":
            raise CommandError(f"--resume: {error.message}") from None
        raise
    shutil.rmtree(folder)


def rows_in(folder: Path) -> int:
    """How many rows a folder holds, in it and in folders inside."""
    from vertebra.studies.engine import Store

    return sum(Store.rows_in(inside) for inside in (folder, *(path for path in folder.rglob("*") if path.is_dir())))
