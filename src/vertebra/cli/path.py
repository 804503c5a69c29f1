"""`vertebra shape --path` and `vertebra tensions --tip-path`: a robot stepped from row to row, remembering its slip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write
from vertebra.cli.output import print_facts, print_json, say, write_text
from vertebra.cli.path_state import restore_state, save_state
from vertebra.cli.rows_file import RowError

if TYPE_CHECKING:
    from vertebra.report.document import Facts
    from vertebra.report.path import Wanted
    from vertebra.robot.robot import Robot
    from vertebra.statics.path import ShapePath, Walk
    from vertebra.statics.shape import Shape

FILES = write.FILES


@dataclass(frozen=True)
class PathFiles:
    """Where a path comes from and where its answer goes."""

    out: Path | None
    as_json: bool
    from_state: Path | None
    save_state: Path | None


@dataclass(frozen=True, eq=False)
class Walked:
    """A path after its rows."""

    walk: Walk
    last: Shape
    before: float
    """Work against friction before the first row, J."""
    substeps: int = 1
    wanted: Wanted | None = None

    @property
    def title(self) -> str:
        count = len(self.walk)
        return f"{self.walk.robot.name} along {count} row{'' if count == 1 else 's'}"

    def summary(self) -> Facts:
        from vertebra.report.path import walk_summary

        facts = walk_summary(self.walk, self.title, self.before, self.substeps)
        if self.wanted is None:
            return facts
        reached, farthest = sum(self.wanted.reached), float(self.wanted.errors(self.walk).max())
        row = ("reached", f"{reached} of {len(self.walk)} tips, off by {farthest * 1e3:.3g} mm at most")
        return facts._replace(rows=(facts.rows[0], row, *facts.rows[1:]))


def open_path(robot: Robot, rules: dict[str, Any], files: PathFiles) -> ShapePath:
    """At the straight robot, or where the state file says."""
    import vertebra

    path = vertebra.ShapePath(robot, **rules)
    if files.from_state is not None:
        restore_state(path, files.from_state)
    return path


def walk_rows(path: ShapePath, rows: Sequence[dict[str, Any]], names: Sequence[str], substeps: int) -> Walked:
    """Step through arguments of `ShapePath.step`; a row without a shape is named."""
    from vertebra.errors import VertebraError

    before, pulls, shapes, works = path.friction_work, [], [], []
    for number, (row, name) in enumerate(zip(rows, names, strict=True), 1):
        try:
            shapes.append(path.step(**row, substeps=substeps))
        except VertebraError as error:
            raise RowError(name, number, error) from error
        works.append(path.friction_work)
        pulls.append(row.get("tensions", shapes[-1].tensions_at_base))
    return Walked(collect(path.robot, pulls, shapes, works), shapes[-1], before, substeps)


def collect(robot: Robot, pulls: Sequence[Any], shapes: Sequence[Shape], works: Sequence[float]) -> Walk:
    """Shapes as one walk; `pulls` are the tensions at the base, N."""
    import numpy as np

    from vertebra.statics.path import Walk

    return Walk(
        robot,
        np.array(pulls, dtype=np.float64),
        np.array([shape.angles for shape in shapes]),
        np.array([shape.tip for shape in shapes]),
        np.array([shape.lengths for shape in shapes]),
        np.array(works),
        np.array([shape.iterations for shape in shapes], dtype=np.float64),
    )


def answer(path: ShapePath, walked: Walked, files: PathFiles) -> None:
    """Write, print, and keep the state."""
    write.warn(walked.last)
    if files.out is not None:
        _write(walked, files.out)
        say(f"wrote {files.out}")
    if files.save_state is not None:
        save_state(path, files.save_state)
    if files.as_json:
        print_json(record(walked) | ({"out": str(files.out)} if files.out is not None else {}))
    elif files.out is None:
        print_facts(walked.summary())
        write.print_shape(walked.last, "After the last row")


def record(walked: Walked) -> dict[str, Any]:
    """Every row as JSON, SI, and the last shape."""
    from vertebra.report.path import widest_gap

    walk, gap, last = walked.walk, widest_gap(walked.walk), walked.last
    names = ("tensions", "tip", "angles", "lengths", "friction_work", "iterations")
    found: dict[str, Any] = {"robot": walk.robot.name, "rows": len(walk), "substeps": walked.substeps}
    found |= {name: write.as_plain(getattr(walk, name)) for name in names}
    found["friction_work_before"] = walked.before
    found["hysteresis"] = None if gap is None else {"distance": gap.distance, "rows": list(gap.rows)}
    if walked.wanted is not None:
        found["wanted"] = write.as_plain(walked.wanted.tips)
        found["error"] = write.as_plain(walked.wanted.errors(walk))
        found["reached"] = list(walked.wanted.reached)
    return found | {"last": write.shape_record(last)}


def _write(walked: Walked, out: Path) -> None:
    suffix, walk, wanted = out.suffix.lower(), walked.walk, walked.wanted
    if suffix == ".json":
        write.write_json(out, record(walked))
    elif suffix == ".csv":
        write.write_csv(out, list(_columns(walked)), _csv_rows(walked))
    elif suffix == ".html":
        from vertebra.report.path import path_page

        write_text(out, path_page(walk, walked.last, walked.title, walked.summary(), wanted))
    else:
        from vertebra.report.path import path_figure_static

        path_figure_static(walk, out, walked.title, wanted)


def _columns(walked: Walked) -> Iterator[str]:
    cables, joints = walked.walk.tensions.shape[1], walked.walk.angles.shape[1]
    yield "row"
    yield from (f"t{k}" for k in range(1, cables + 1))
    yield from ("x_mm", "y_mm", "z_mm")
    if walked.wanted is not None:
        yield from ("wanted_x_mm", "wanted_y_mm", "wanted_z_mm", "error_mm", "reached")
    yield from (f"q{j}_deg" for j in range(1, joints + 1))
    yield from (f"length{k}_mm" for k in range(1, cables + 1))
    yield "friction_work_mJ"


def _csv_rows(walked: Walked) -> Iterator[list[Any]]:
    import numpy as np

    walk, wanted = walked.walk, walked.wanted
    angles, errors = np.degrees(walk.angles), None if wanted is None else wanted.errors(walk)
    for i in range(len(walk)):
        row = [i + 1, *walk.tensions[i].tolist(), *(1e3 * walk.tip[i]).tolist()]
        if wanted is not None and errors is not None:
            row += [*(1e3 * wanted.tips[i]).tolist(), 1e3 * float(errors[i]), wanted.reached[i]]
        row += [*angles[i].tolist(), *(1e3 * walk.lengths[i]).tolist(), 1e3 * float(walk.friction_work[i])]
        yield row
