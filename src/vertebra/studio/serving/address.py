"""Where the studio listens: a bound socket, whether only this machine reaches it, and the address to open."""

from __future__ import annotations

import errno
import ipaddress
import socket

from vertebra.errors import StudioError

FIRST_PORT = 8080
PORTS_TRIED = 100


def resolved(host: str) -> tuple[socket.AddressFamily, str]:
    """Family and numeric address of a host to bind to."""
    if not host.strip():
        raise StudioError("host", "is empty; use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StudioError("host", f"no address is known for {host!r}; use 127.0.0.1 or an address of yours") from None
    family, _, _, _, place = found[0]
    return family, str(place[0])


def is_loopback(address: str) -> bool:
    """Whether only programs on this machine can reach a numeric address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def listening_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens on `port`; without one on 8080 or the next free one. Port 0: any free one."""
    family, address = resolved(host)
    if port is not None:
        if not 0 <= port <= 65535:
            raise StudioError("port", f"{port} is no port; use 1 to 65535, or 0 for any free one")
        return _listen(family, address, port)
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        try:
            return _listen(family, address, candidate)
        except StudioError as error:
            if error.field != "port":
                raise
    raise StudioError("port", f"all ports from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are taken; name another")


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    try:
        return socket.create_server((address, port), family=family)
    except PermissionError:
        raise StudioError("port", f"{port} needs the rights of an administrator; use one above 1023") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StudioError("port", f"{port} is taken by another program; use another, or none to find one") from None
        raise StudioError("host", f"cannot listen on {address}: {error.strerror}; use an address of yours") from None


def shown_host(address: str) -> str:
    """The host to write into an address: one that others can open, where all networks are listened on."""
    number = ipaddress.ip_address(address.partition("%")[0])
    shown = _own_address(number.version) if number.is_unspecified else address
    return f"[{shown}]" if ":" in shown else shown


def _own_address(version: int) -> str:
    """The address this machine sends from. Connecting a datagram socket sends nothing; the target is for examples."""
    family, far, local = {
        4: (socket.AF_INET, "192.0.2.1", "127.0.0.1"),
        6: (socket.AF_INET6, "2001:db8::1", "::1"),
    }[version]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((far, 9))
        except OSError:
            return local
        return str(probe.getsockname()[0])
