"""The answer about an identified friction law: what its plots show."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.identify.friction import fit_friction
from vertebra.identify.rig import simulate_rig
from vertebra.report.friction_fit import angles_deg, band_picture, friction_still, groups, pieces, residual_picture


def test_pictures_show_the_band_and_every_residual() -> None:
    fit = fit_friction(simulate_rig((14, 0.70, 0.105)))
    within = next(piece for piece in pieces(fit) if piece.inside)
    band = fit.band(np.radians(within.theta))
    np.testing.assert_allclose((within.low, within.high), (band.low, band.high))
    assert (within.theta[0], within.theta[-1]) == pytest.approx((1, 9))
    filled = [trace for trace in band_picture(fit).data if trace.fill == "toself"]
    np.testing.assert_allclose(filled[0].y, [*within.high, *within.low[::-1]])
    assert angles_deg(fit) == pytest.approx([1, 3, 5, 7, 9])
    drawn = np.concatenate([trace.y for trace in residual_picture(fit).data])
    np.testing.assert_allclose(np.sort(drawn), np.sort(1e3 * fit.residuals))
    assert len(list(groups(fit))) == 8
    lines = friction_still(fit, "").axes[1].get_lines()
    np.testing.assert_allclose(lines[0].get_ydata(), residual_picture(fit).data[0].y)
