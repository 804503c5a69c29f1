from __future__ import annotations

import numpy as np
import pytest

from vertebra.sensing.live import LatencyHistogram


def test_percentiles_are_right_to_five_percent():
    durations = np.random.default_rng(1).lognormal(np.log(1e-3), 1.0, 4999)
    histogram = LatencyHistogram()
    for duration in durations:
        histogram.add(float(duration))
    assert histogram.count == 4999
    assert histogram.longest == durations.max()
    for percent in (1, 50, 99, 99.9):
        exact = np.percentile(durations, percent, method="inverted_cdf")
        assert exact <= histogram.percentile(percent) <= exact * 1.05


def test_nothing_and_extremes():
    histogram = LatencyHistogram()
    assert histogram.percentile(99) == 0.0
    histogram.add(-1e-3)
    assert histogram.percentile(50) == 0.0
    histogram.add(1e9)
    assert histogram.percentile(100) == 1e9
    assert histogram.percentile(50) == pytest.approx(1e-5)
