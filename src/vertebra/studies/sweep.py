"""Every row of a study, answered: one labelled table with its units, the study's text, versions and seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.robot.arguments import folder, function
from vertebra.robot.reading import yaml_text
from vertebra.robot.tables import Floats
from vertebra.studies.engine import machine, open_engine, versions
from vertebra.studies.quantities import ROW_STATUS, Outcome, message_of
from vertebra.studies.study import Study

if TYPE_CHECKING:
    import xarray


def sweep(
    study: str | Path | Mapping[str, Any] | Study,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> xarray.Dataset:
    """All rows of a study (the path of a file, or a mapping) as an xarray Dataset with units.

    In this process on all cores; with `workers` in so many processes on this machine; with `scheduler` on the Dask
    cluster at that address. The data are the same to the bit. `store`: a folder in which rows are kept as they are
    done; a run that was cut short goes on from there. `progress(done, rows)` is called as rows are done.

    A row without an answer says so in `status`, and why in `messages` at the place that `message` gives.
    """
    kept = folder("store", store)
    function("progress", progress, "done", "total")
    read = Study.read(study)
    with open_engine(workers, scheduler) as engine:
        outcome = engine.run(read, store=kept, progress=progress)
    return dataset(read, read.values(0, read.rows), outcome)


def dataset(study: Study, values: Floats, outcome: Outcome) -> xarray.Dataset:
    """Rows (n, variables) and their answers, labelled."""
    import xarray

    coordinates: dict[str, Any] = {}
    for place, one in enumerate(study.variables):
        described: dict[str, Any] = {"units": one.unit or "1", "long_name": one.name}
        column = values[:, place]
        if one.labels:
            described = {"long_name": one.name, "labels": list(one.labels)}
            column = column.astype(np.int32)
        coordinates[one.name] = ("row", column, described)
    data: dict[str, Any] = {}
    first = 0
    for asked in study.asked:
        called, unit, last = asked.columns[0].quantity, asked.columns[0].unit, first + len(asked.columns)
        name, described = called.replace(" ", "_"), {"units": unit or "1", "long_name": called}
        if asked.columns[0].label:
            coordinates[f"{name}_part"] = [column.label for column in asked.columns]
            data[name] = (("row", f"{name}_part"), outcome.results[:, first:last], described)
        else:
            data[name] = ("row", outcome.results[:, first], described)
        first = last
    numbers, texts = _messages(outcome)
    data["status"] = (
        "row", outcome.status,
        {"long_name": "how the row ended", "flag_values": np.arange(len(ROW_STATUS), dtype=np.int8),
         "flag_meanings": " ".join(word.replace(" ", "_") for word in ROW_STATUS)},
    )  # fmt: skip
    data["message"] = ("row", numbers, {"long_name": "which of `messages` says why a row has no answer; 0 for none"})
    data["messages"] = ("message_number", texts, {"long_name": "why rows have no answer"})
    return xarray.Dataset(
        data,
        coordinates,
        {
            "title": study.name, "robot": study.robot.name, "study": study.text,
            "robot_file": yaml_text(study.robot.to_mapping()), "key": study.key, "samples": study.samples.method,
            "seed": study.samples.seed, "machine": machine(),
            **{f"{name}_version".replace(" ", "_"): text for name, text in versions().items()},
        },
    )  # fmt: skip


def _messages(outcome: Outcome) -> tuple[Any, Any]:
    """(n,) numbers and the texts that they stand for, the same whatever the chunks were."""
    failed = np.flatnonzero(outcome.status)
    said = [message_of(int(outcome.status[row]), outcome.messages, int(row)) for row in failed]
    texts = ["", *sorted(set(said))]
    place = {text: number for number, text in enumerate(texts)}
    numbers = np.zeros(len(outcome.status), np.int32)
    numbers[failed] = [place[text] for text in said]
    return numbers, np.array(texts, dtype=object)  # as text of one width, a long one would make all of them long
