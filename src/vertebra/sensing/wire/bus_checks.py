"""Why a bus cannot be opened or used, and what to do about it: looked up before python-can fails with less to say."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from importlib.util import find_spec
from pathlib import Path

from vertebra.errors import BusError
from vertebra.sensing.wire.bus_url import BusAddress

INSTALL = 'pip install "vertebra[sense]"'
_PACKAGES = {"udp_multicast": "msgpack", "slcan": "serial", "serial": "serial"}
_IFF_UP = 1


def require_package(where: str, package: str) -> None:
    """Complain when a package of the extra `sense` is not installed."""
    if find_spec(package) is None:
        name = {"can": "python-can", "serial": "pyserial"}.get(package, package)
        raise BusError(where, f"needs {name}, which is not installed: {INSTALL}")


def require_usable(address: BusAddress) -> None:
    """Complain about what can be seen to be missing before the bus is opened."""
    for package in ("can", _PACKAGES.get(address.interface, "can")):
        require_package(address.url, package)
    if address.interface == "udp_multicast":
        _require_route(address)
    elif address.interface == "socketcan":
        _require_interface(address)
    elif address.interface in ("slcan", "serial"):
        require_device(address.url, address.channel)


def require_device(where: str, device: str) -> None:
    """Complain when a serial device is not there or not ours to open; names that are no path (COM3) pass."""
    if not device.startswith("/"):
        return
    if not Path(device).exists():
        there = sorted(str(path) for pattern in ("ttyUSB*", "ttyACM*") for path in Path("/dev").glob(pattern))
        seen = f"found: {', '.join(there)}" if there else "no /dev/ttyUSB* or /dev/ttyACM* is there: is it plugged in?"
        raise BusError(where, f"there is no device {device}; {seen}")
    if not os.access(device, os.R_OK | os.W_OK):
        raise BusError(where, f"no permission to open {device}; {_DIALOUT}")


def remedy(error: BaseException, channel: str) -> str:
    """What the system said, and what helps."""
    number = getattr(error, "errno", None)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    hint = _REMEDIES.get(number or 0, "").format(channel=channel)
    return f"{text}; {hint}" if hint else text


_DIALOUT = "sudo usermod -aG dialout $USER, then log in again"
_ROUTE = (
    "this computer has no route for multicast; to stay on it: "
    "sudo ip link set lo up && sudo ip route add 239.0.0.0/8 dev lo"
)
_REMEDIES = {
    errno.EACCES: _DIALOUT,
    errno.EPERM: _DIALOUT,
    errno.EBUSY: "another program has it open",
    errno.ENODEV: "`ip link` lists the interfaces",
    errno.ENETDOWN: "sudo ip link set {channel} up type can bitrate 500000",
    errno.ENETUNREACH: _ROUTE,
    errno.ENOBUFS: "nobody acknowledges (is another node on the bus, is it terminated?), or the queue is short: "
    "sudo ip link set {channel} txqueuelen 1000",
    errno.EAFNOSUPPORT: "this system has no SocketCAN; it comes with the kernel of Linux (sudo modprobe can_raw)",
    errno.EADDRINUSE: "another program uses this port without sharing it; take another port",
}


def _require_route(address: BusAddress) -> None:
    """A route to the group must exist; asking for it sends nothing."""
    group = ipaddress.ip_address(address.channel)
    family = socket.AF_INET if group.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address.channel, address.options["port"]))
    except OSError as error:
        raise BusError(address.url, remedy(error, address.channel)) from error


def _require_interface(address: BusAddress) -> None:
    if not hasattr(socket, "AF_CAN"):
        raise BusError(address.url, _REMEDIES[errno.EAFNOSUPPORT])
    there = [name for _, name in socket.if_nameindex()]
    if address.channel not in there:
        known = [name for name in there if _kind(name) == "280"] or ["none"]
        raise BusError(address.url, f"there is no interface {address.channel}; CAN interfaces: {', '.join(known)}")
    if not int(_interface_file(address.channel, "flags") or "0x1", 16) & _IFF_UP:
        raise BusError(address.url, "Network is down; " + _REMEDIES[errno.ENETDOWN].format(channel=address.channel))


def _kind(interface: str) -> str:
    """Hardware type of an interface as Linux numbers them; 280 is CAN."""
    return _interface_file(interface, "type")


def _interface_file(interface: str, name: str) -> str:
    try:
        return Path(f"/sys/class/net/{interface}/{name}").read_text(encoding="ascii").strip()
    except OSError:
        return ""
