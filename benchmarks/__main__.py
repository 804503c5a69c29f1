"""`python -m benchmarks`: all benchmarks as one table of ratios; `--write` keeps it for the README and the docs."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks import report
from benchmarks.rooms import ROOMS, fingerprints
from benchmarks.timing import pin_to_one_core


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep the rows in benchmarks/{report.RATIOS.name}")
    parser.add_argument("--machine", default="shared two-core machine", help="where this runs, for the tables")
    options = parser.parse_args()
    rooms = [import_module(f"benchmarks.{room}") for room in ROOMS]
    pin_to_one_core()
    rows = [row for room in rooms for row in room.rows()]
    report.show(rows)
    if options.write:
        report.write(rows, options.machine, fingerprints())


if __name__ == "__main__":
    main()
