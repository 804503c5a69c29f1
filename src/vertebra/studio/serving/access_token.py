"""The secret that opens a studio which other machines can reach: how it is made, written down and recognised."""

from __future__ import annotations

import hmac
import re
import secrets

from vertebra.errors import StudioError

SHORTEST_TOKEN = 16
LONGEST_TOKEN = 200
_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")


def make_token() -> str:
    """A random token of 192 bits."""
    return secrets.token_urlsafe(24)


def checked_token(token: str) -> str:
    """The token itself if it can be used: long enough to resist guessing, plain enough for an address and a cookie."""
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN:
        raise StudioError(
            "token",
            f"has {len(token)} characters; use {SHORTEST_TOKEN} to {LONGEST_TOKEN}, or leave it out for a random one",
        )
    if not _PLAIN.fullmatch(token):
        raise StudioError("token", "may only have letters, digits and . _ ~ -, because it is part of an address")
    return token


def same_token(given: str, token: str) -> bool:
    """Whether two tokens are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def cookie_values(header: str, name: str) -> list[str]:
    """Values of one cookie in a Cookie header; programs on other ports of the host may have left odd ones there."""
    pairs = (part.partition("=") for part in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def bearer_value(header: str) -> str | None:
    """The token of an Authorization header; None for any other kind of authorization."""
    kind, _, value = header.strip().partition(" ")
    return value.strip() if kind.lower() == "bearer" else None
