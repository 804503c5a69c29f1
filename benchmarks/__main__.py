"""`python -m benchmarks`: all benchmarks as one table of ratios."""

from __future__ import annotations

from benchmarks import dynamics, friction, kinematics, payload, report, sensing, startup, statics
from benchmarks.timing import pin_to_one_core

if __name__ == "__main__":
    pin_to_one_core()
    report.show(
        [
            *kinematics.rows(),
            *statics.rows(),
            *friction.rows(),
            *payload.rows(),
            *dynamics.rows(),
            *sensing.rows(),
            *startup.rows(),
        ]
    )
