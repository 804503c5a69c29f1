"""The token: what may be one, and how one is recognised."""

from __future__ import annotations

import pytest

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import bearer_value, checked_token, cookie_values, make_token, same_token


def test_random_tokens_differ_and_pass_their_own_check() -> None:
    made = {make_token() for _ in range(50)}
    assert len(made) == 50
    assert all(checked_token(token) == token and len(token) >= 32 for token in made)


@pytest.mark.parametrize(
    "token", ["", "short", "a" * 15, "a" * 201, "a" * 15 + " ", "a" * 16 + ";", "ä" * 16, "a\n" * 9]
)
def test_tokens_that_are_weak_or_break_a_header(token: str) -> None:
    with pytest.raises(StudioError, match=r"^token: "):
        checked_token(token)


def test_only_the_same_token_is_the_same() -> None:
    token = "0123456789abcdef"
    assert same_token(token, token)
    for other in ("", token[:-1], token + "x", token.upper(), "ä", "\udc80", "\x00"):
        assert not same_token(other, token)


def test_cookies_among_odd_neighbours() -> None:
    header = 'x={"a"; b=1=2;; vertebra_1=right ; =; vertebra_1=twice; vertebra_10=other; ä'
    assert cookie_values(header, "vertebra_1") == ["right", "twice"]
    assert cookie_values("", "vertebra_1") == []


def test_bearer() -> None:
    assert bearer_value("Bearer abc") == "abc"
    assert bearer_value(" bearer  abc ") == "abc"
    assert bearer_value("Basic abc") is None
    assert bearer_value("") is None
