from __future__ import annotations

import pytest
from pydantic import ValidationError

from vertebra.errors import InputError, StudioError
from vertebra.studio.sense.settings import BASES, MODELS, SOURCES, SPEEDS, SenseSettings
from vertebra.studio.sense.sources import checked_url


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "File"}, {"method": "magic"}, {"model": "best"}, {"base": "sideways"}, {"bend_deg": 0.5},
        {"bend_deg": 61.0}, {"bend_deg": float("nan")}, {"speed_deg_s": 0.0}, {"speed_deg_s": 181.0}, {"sensor": -1},
        {"sensor": 10_001}, {"magnet_deg": 91.0}, {"magnet_deg": float("inf")}, {"bus": "x" * 201}, {"sync_hz": -1.0},
        {"sync_hz": 1001.0}, {"file": "x" * 256}, {"play_speed": 0.1}, {"play_speed": 11.0},
        {"calibration": "x" * 256}, {"other": 1},
    ],
)  # fmt: skip
def test_settings_are_bounded(wrong):
    with pytest.raises(ValidationError):
        SenseSettings(**wrong)


def test_every_choice_that_is_offered_is_allowed():
    for name, choices in (("source", SOURCES), ("model", MODELS), ("base", BASES), ("play_speed", SPEEDS)):
        for choice in choices:
            assert getattr(SenseSettings(**{name: choice}), name) == choice


@pytest.mark.parametrize(
    "url", ["", "can0", "tcp://host", "udp_multicast://10.0.0.1", "virtual://", "socketcan://?x=1"]
)
def test_a_url_that_names_no_bus_is_refused(url):
    with pytest.raises(InputError, match="bus"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["slcan:///etc/passwd", "serial:///dev/../etc/passwd", "slcan://socket://host:80", "serial://spy:///dev/x"]
)
def test_a_page_opens_neither_files_nor_other_hosts_as_a_serial_line(url):
    with pytest.raises(StudioError, match="no device"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["slcan:///dev/ttyACM0?bitrate=500000", "serial://COM3", "virtual://a", "udp_multicast://"]
)
def test_a_bus_passes(url):
    assert checked_url(f" {url} ").url == url
