"""URLs of buses: what they mean, and what is said about wrong ones."""

from __future__ import annotations

import pytest

from vertebra.errors import InputError
from vertebra.sensing.wire.bus import parse_bus_url


@pytest.mark.parametrize(
    ("url", "interface", "channel", "options"),
    [
        ("virtual://bench", "virtual", "bench", {}),
        ("udp_multicast://", "udp_multicast", "239.74.163.2", {"port": 43113, "hop_limit": 1}),
        ("udp_multicast://239.1.2.3:5000?hop_limit=0", "udp_multicast", "239.1.2.3", {"port": 5000, "hop_limit": 0}),
        ("udp_multicast://[ff15::1]:7", "udp_multicast", "ff15::1", {"port": 7, "hop_limit": 1}),
        ("socketcan://can0", "socketcan", "can0", {}),
        ("slcan:///dev/ttyACM0?bitrate=500000", "slcan", "/dev/ttyACM0", {"bitrate": 500000}),
        ("slcan://COM3?listen_only=yes", "slcan", "COM3", {"listen_only": True}),
        ("serial:///dev/ttyUSB0?baudrate=115200", "serial", "/dev/ttyUSB0", {"baudrate": 115200}),
    ],
)
def test_good_urls(url: str, interface: str, channel: str, options: dict[str, object]) -> None:
    assert parse_bus_url(url) == (url, interface, channel, options)


def test_options_of_the_call_win() -> None:
    assert parse_bus_url("udp_multicast://?hop_limit=3", {"hop_limit": 0}).options["hop_limit"] == 0


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("can0", "must begin with one of virtual://"),
        ("ethernet://x", "socketcan://"),
        ("virtual://", "virtual://bench"),
        ("socketcan://", "socketcan://can0"),
        ("slcan:///", "slcan:///dev/ttyACM0"),
        ("serial://", "serial:///dev/ttyUSB0"),
        ("slcan:///dev/ttyACM0?bitrate=fast", "bitrate='fast'"),
        ("slcan:///dev/ttyACM0?speed=1", "no option 'speed'; it has bitrate"),
        ("virtual://a?receive_own_messages=perhaps", "yes/no"),
        ("udp_multicast://192.168.1.1", "no multicast group"),
        ("udp_multicast://somewhere", "write udp_multicast://239.74.163.2:43113"),
        ("udp_multicast://239.1.1.1:99999", "write udp_multicast://"),
        ("udp_multicast://239.1.1.1?hop_limit=300", "hop_limit"),
    ],
)
def test_wrong_urls_name_what_to_write(url: str, words: str) -> None:
    with pytest.raises(InputError, match=r"^bus: ") as caught:
        parse_bus_url(url)
    assert words in str(caught.value)
