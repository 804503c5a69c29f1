"""The answer about a mu from slip tests: what its tables, plots and page show."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.looking import Reader, page_of

import vertebra as vb
from vertebra.identify.slip_fit import fit_slips
from vertebra.identify.slip_model import simulate_slips
from vertebra.report.slip_fit import (
    families,
    fit_summary,
    force_picture,
    line_of,
    mu_picture,
    residual_picture,
    row_table,
    setting_table,
    slip_report,
)

ROBOT = vb.load("cai2023")


def test_page_of_measured_tests_with_warnings() -> None:
    data = simulate_slips(ROBOT, tensions_N=[20], repeats=4)
    words = {"source": "slips.csv, 4 measured slip tests", "simulated": False}
    fit = fit_slips(ROBOT, type(data)(**{**vars(data), **words}))
    shown = " ".join(Reader(page_of(slip_report(fit))).shown)
    assert "measured loads hollow" in shown
    assert "simulated" not in shown
    assert "cannot be told apart" in shown
    assert "not tested: one setting" in shown


def test_pictures_show_every_test_and_the_band() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT))
    (family,) = families(fit)
    line = line_of(fit, family)
    model = np.interp([item.predicted for item in fit.settings], line.force, line.tension)
    np.testing.assert_allclose(model, [5, 10, 15, 20, 25, 30, 35], rtol=1e-6)  # the line is straight
    high = fit.interval[1]
    at = int(np.argmin(np.abs(line.tension - 35)))
    scale = line.force[at] / fit.settings[-1].predicted
    assert line.high[at] - line.force[at] == pytest.approx(scale * fit.settings[-1].slope * (high - fit.mu), rel=1e-3)
    drawn = {trace.name: trace for trace in force_picture(fit).data}
    np.testing.assert_array_equal(drawn["simulated"].y, fit.data.force)
    assert drawn["simulated"].marker.symbol.endswith("open")
    assert drawn["model"].marker.symbol == "circle"
    np.testing.assert_allclose(drawn["model"].y, [item.predicted for item in fit.settings])
    residuals = next(iter(residual_picture(fit).data))
    np.testing.assert_array_equal(residuals.y, fit.residuals)
    assert len(mu_picture(fit).data) == 7


def test_settings_of_all_kinds_are_named_and_drawn() -> None:
    parts = [
        simulate_slips(ROBOT, tensions_N=[10, 20]),
        simulate_slips(ROBOT, tensions_N=[10, 20], bend_deg=8, azimuth_deg=90),
        simulate_slips(ROBOT, tensions_N=[[15, 20, 20]], point=(0.012, 0, -0.006), direction=(1, -1, 0)),
    ]
    names = ("tensions", "force", "bend", "azimuth", "direction", "point", "step", "held")
    lists = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
    fit = fit_slips(ROBOT, type(parts[0])(*lists, simulated=True))
    table = setting_table(fit)
    cells = " ".join(cell for row in table.rows for cell in row)
    for part in (
        "straight",
        "bent 8 deg toward 90 deg",
        "15, 20, 20",
        "load at (12, 0, -6) mm",
        "toward (0.707, -0.707, 0)",
    ):
        assert part in cells
    assert "ends by" in table.headers
    assert [len(family.places) for family in families(fit)] == [2, 2, 1]
    assert families(fit)[0].name.startswith("equal tensions, straight")
    assert len([trace for trace in force_picture(fit).data if trace.fill == "toself"]) == 2
    assert len(row_table(fit).rows) == len(fit.data)


def test_the_summary_shows_steps_and_doubt() -> None:
    texts = dict(fit_summary(fit_slips(ROBOT, simulate_slips(ROBOT, step_N=0.03))).rows)
    assert texts["loads"] == "in steps of 0.03 N; half a step subtracted from the first that slipped"
    texts = dict(fit_summary(fit_slips(ROBOT, simulate_slips(ROBOT, step_N=2.0, noise_N=0.05, recorded="held"))).rows)
    assert texts["loads"] == "in steps of 2 N; half a step added to the last that held"
    assert "steps hide how repeats scatter" in texts["one mu for all?"]
    texts = dict(fit_summary(fit_slips(ROBOT, simulate_slips(ROBOT, offset_N=2.0))).rows)
    assert texts["one mu for all?"].startswith("no: lack of fit")
    assert texts["robot file"] == "mu = 0.58, above the interval"
    texts = dict(
        fit_summary(fit_slips(ROBOT, simulate_slips(ROBOT, repeats=1), sigma=0.03, scatter="proportional")).rows
    )
    assert texts["scatter"].startswith("3 % of the force per test, as stated")
    assert "too few repeats" in texts["one mu for all?"]
