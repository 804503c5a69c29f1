"""What may be uploaded, and that nothing is remembered of what was refused."""

from __future__ import annotations

from typing import Any

import pytest

from vertebra.studio.serving.messages import MOST_AT_ONCE, Uploads

LIMIT = 1_000_000


def start(name: str = "t", size: int = 10, parts: int = 1, filename: str = "a.yaml") -> dict[str, Any]:
    return {"transfer_uuid": name, "size_bytes": size, "part_count": parts, "filename": filename}


def part(size: int, index: int = 0, name: str = "t") -> dict[str, Any]:
    return {"transfer_uuid": name, "part_index": index, "content": b"x" * size}


def test_a_file_in_parts() -> None:
    uploads = Uploads(LIMIT)
    assert uploads.refuse_start("me", start(size=900_000, parts=2)) == ""
    assert uploads.refuse_part("me", part(524_288, 0)) == ""
    assert len(uploads) == 1
    assert uploads.refuse_part("me", part(900_000 - 524_288, 1)) == ""
    assert len(uploads) == 0


def test_an_empty_file() -> None:
    uploads = Uploads(LIMIT)
    assert uploads.refuse_start("me", start(size=0, parts=0)) == ""
    assert len(uploads) == 0


def test_the_limit_is_the_last_that_passes() -> None:
    assert Uploads(LIMIT).refuse_start("me", start(size=LIMIT)) == ""
    reason = Uploads(LIMIT).refuse_start("me", start(size=LIMIT + 1))
    assert reason == f"upload too large: {LIMIT + 1} bytes, at most {LIMIT}"


@pytest.mark.parametrize(("size", "parts"), [(-1, 1), (10, 0), (0, 1), (10, -1), (10, 2), (900_000, 10_000)])
def test_announcements_that_cannot_be(size: int, parts: int) -> None:
    uploads = Uploads(LIMIT)
    assert uploads.refuse_start("me", start(size=size, parts=parts)) == "upload inconsistent"
    assert len(uploads) == 0


def test_more_than_announced_frees_what_came() -> None:
    uploads = Uploads(LIMIT)
    uploads.refuse_start("me", start(size=9000, parts=3))
    assert uploads.refuse_part("me", part(4000, 0)) == ""
    assert uploads.refuse_part("me", part(6000, 1)) == "upload not as announced"
    assert len(uploads) == 0
    assert uploads.refuse_part("me", part(1, 2)) == "upload not announced"


@pytest.mark.parametrize(
    ("first", "second"), [((10, 0), (10, 0)), ((10, 0), (5, 2)), ((10, 0), (10, -1)), ((3, 0), (3, 1))]
)
def test_parts_that_do_not_make_the_file(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Repeated, out of range, or too short at the end: viser would warn, or wait forever."""
    uploads = Uploads(LIMIT)
    uploads.refuse_start("me", start(size=5000, parts=2))
    sizes = [part(first[0] * 250, first[1]), part(second[0] * 250, second[1])]
    reasons = [uploads.refuse_part("me", each) for each in sizes]
    assert "upload not as announced" in reasons
    assert len(uploads) == 0


def test_of_somebody_else() -> None:
    uploads = Uploads(LIMIT)
    uploads.refuse_start("me", start(size=10))
    assert uploads.refuse_start("you", start(size=10)) == "upload while others run"
    assert uploads.refuse_part("you", part(10)) == "upload not announced"
    assert uploads.refuse_part("me", part(10)) == ""


def test_a_few_at_once() -> None:
    uploads = Uploads(LIMIT)
    for count in range(MOST_AT_ONCE):
        assert uploads.refuse_start("me", start(str(count))) == ""
    assert uploads.refuse_start("me", start("more")) == "upload while others run"
    assert uploads.refuse_start("you", start("yours")) == ""
    assert uploads.of("me") == [str(count) for count in range(MOST_AT_ONCE)]


def test_long_names() -> None:
    assert Uploads(LIMIT).refuse_start("me", start(filename="ä" * 128)) == "upload with a long name"
