"""`vertebra payload --map`: what the robot holds in every direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write

if TYPE_CHECKING:
    import xarray

    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload
    from vertebra.report.payload import PayloadCase

FILES = (".html", ".nc", ".csv", ".json")
COLUMNS = ("tensions", "link", "x", "y", "z", "payload_N", "joint", "mode")
"""Without a limit, payload_N is inf and joint 0."""
GIVEN, BEST, EQUAL = "given", "best", "equal"


@dataclass(frozen=True)
class Map:
    """A payload map and what it was asked for."""

    case: PayloadCase
    payloads: xarray.Dataset
    """Its `shape` dimension is one set of tensions after another."""
    sets: dict[str, list[float]]
    """Those tensions, N, by name: given, or best and equal."""
    asked: tuple[Payload, ...] = ()
    """In one direction: for each link, with each set of tensions."""
    best: BestTensions | None = None

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.case.robot.name}, {self.case.words}: payload map"

    def write(self, out: Path) -> None:
        """The file that the suffix of `out` asks for."""
        suffix = out.suffix.lower()
        if suffix == ".nc":
            self.dataset().to_netcdf(out, engine="netcdf4")
        elif suffix == ".csv":
            write.write_csv(out, COLUMNS, self.rows())
        elif suffix == ".json":
            write.write_json(out, self.record())
        else:
            self._page(out)

    def dataset(self) -> xarray.Dataset:
        """The map with its shape and its tensions, SI."""
        import vertebra

        case, shape = self.case, self.case.shape
        more = {
            "tensions": (("shape", "cable"), list(self.sets.values()), {"units": "N"}),
            "bend": ("joint_of_shape", shape.bends, {"units": "rad"}),
            "azimuth": ("joint_of_shape", shape.azimuths, {"units": "rad"}),
            "gravity": ("axis", case.gravity, {"units": "m/s^2"}),
        }
        whole = self.payloads.assign(more).assign_coords(shape=list(self.sets))
        return whole.assign_attrs(shape=case.words, vertebra=vertebra.__version__)

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """One row a direction."""
        modes = str(self.payloads.attrs["modes"]).split()
        axes = [self.payloads[f"direction_{axis}"].to_numpy().tolist() for axis in "xyz"]
        for row, name in enumerate(self.sets):
            for place, link in enumerate(self.payloads["link"].to_numpy().tolist()):
                part = self.payloads.isel(shape=row, link=place)
                columns = (part[variable].to_numpy().tolist() for variable in ("payload", "joint", "mode"))
                for x, y, z, payload, joint, mode in zip(*axes, *columns, strict=True):
                    yield name, link, x, y, z, payload, joint, modes[mode]

    def record(self) -> dict[str, Any]:
        """The map as JSON, SI; null is no limit."""
        names = ("payload", "joint", "mode")
        axes = (self.payloads[f"direction_{axis}"].to_numpy().tolist() for axis in "xyz")
        return {
            "robot": self.case.robot.name,
            "shape": self.case.words,
            "tensions": self.sets,
            "links": self.payloads["link"].to_numpy().tolist(),
            "modes": str(self.payloads.attrs["modes"]).split(),
            "directions": list(zip(*axes, strict=True)),
            "maps": {
                name: {variable: self.payloads[variable].isel(shape=row).to_numpy().tolist() for variable in names}
                for row, name in enumerate(self.sets)
            },
        }

    def _page(self, out: Path) -> None:
        from vertebra.report.payload import best_facts, tensions_text
        from vertebra.report.payload_map import bodies_of, write_map_page

        if self.best is None:
            write_map_page(self.case, bodies_of(self.case, self.payloads, asked=self.asked), out, self.title)
            return
        names = tuple(f"{name} tensions" for name in self.sets)
        bodies = bodies_of(self.case, self.payloads, names, self.asked)
        words = f"best {tensions_text(self.best.tensions)}; equal {tensions_text(self.best.equal_tensions)}"
        write_map_page(self.case, bodies, out, self.title, words, (best_facts(self.case, self.best),))
