"""What a window may send: what viser's page sends passes, everything else is dropped with a reason and never raises."""

from __future__ import annotations

import math
import os
import random
from types import SimpleNamespace
from typing import Any

import pytest
import viser._messages
from tests.studio.visitors import CAMERA, packed

from vertebra.studio.serving.messages import (
    ALLOWED,
    LARGEST_PLAIN,
    LONGEST_LIST,
    LONGEST_VALUE,
    MOST_AT_ONCE,
    Refused,
    Schema,
    Uploads,
    fits_widget,
)
from vertebra.studio.serving.viser_hook import message_types

SCHEMA = Schema(message_types(ALLOWED))
RAY = {"ray_origin": [0, 0, 0.5], "ray_direction": [0, 0, 1], "modifier": None}
GOOD: list[dict[str, Any]] = [
    CAMERA,
    {"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": True}},
    {"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": 0.5}},
    {"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": "text"}},
    {"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": [1, 2.5, 3]}},
    {"type": "GuiButtonHoldMessage", "uuid": "u", "frequency": 10},
    {"type": "GuiFormSubmitMessage", "uuid": "u"},
    {"type": "GuiFormDirtyMessage", "uuid": "u"},
    {"type": "CommandTriggerMessage", "uuid": "u"},
    {"type": "LocalStorageGetItemResponseMessage", "value": None, "error": None, "request_uuid": "r"},
    {"type": "GetRenderResponseMessage", "payload": b"x" * 100_000, "render_uuid": "r"},
    {"type": "TransformControlsDragStartMessage", "name": "/t", "owner": ""},
    {"type": "TransformControlsUpdateMessage", "name": "/t", "wxyz": [0, 1, 0, 0], "position": [1, 2, 3], "owner": ""},
    {"type": "TransformControlsDragEndMessage", "name": "/t"},
    {"type": "ScenePointerMessage", "event_type": "click", "screen_pos": [[0.1, 0.2]], **RAY},
    {
        "type": "ScenePointerMessage", "event_type": "rect-select", "screen_pos": [[0, 0], [1, 1]],
        "ray_origin": None, "ray_direction": None, "modifier": "cmd/ctrl",
    },
    {"type": "SceneNodeClickMessage", "name": "/n", "instance_index": 3, "screen_pos": [0, 1], "owner": "", **RAY},
    {
        "type": "SceneNodeDragMessage", "phase": "start", "name": "/n", "instance_index": None,
        "start_position": [0, 0, 0], "start_screen_pos": [0, 0], "end_position": [0, 0, 0], "end_screen_pos": [1, 1],
        "button": "left", "modifier": "shift", "owner": "",
    },
    {
        "type": "FileTransferStartUpload", "source_component_uuid": "u", "transfer_uuid": "t", "filename": "a.yaml",
        "mime_type": "", "size_bytes": 3, "part_count": 1,
    },
    {
        "type": "FileTransferPart", "source_component_uuid": "u", "transfer_uuid": "t", "part_index": 0,
        "content": b"x" * 524_288,
    },
]  # fmt: skip


def reason(message: Any) -> str:
    found = SCHEMA.read(message if isinstance(message, bytes | str) else packed(message))
    assert isinstance(found, Refused), found
    return found.reason


@pytest.mark.parametrize("message", GOOD, ids=lambda message: message["type"])
def test_what_the_page_sends_passes_and_viser_reads_it(message: dict[str, Any]) -> None:
    assert SCHEMA.read(packed(message)) == message
    assert viser._messages.Message.deserialize(packed(message))


def test_all_allowed_messages_are_tried() -> None:
    assert {message["type"] for message in GOOD} == set(ALLOWED)


def test_everything_else_that_viser_knows_is_dropped() -> None:
    """Every other message of viser, the ones that open a tunnel first of all."""
    others = {kind.__name__ for kind in viser._messages.Message.get_subclasses()} - set(ALLOWED)
    assert {"ShareUrlRequest", "ShareUrlDisconnect", "RunJavascriptMessage", "RemoveSceneNodeMessage"} <= others
    for name in others:
        assert reason({"type": name}) == "not allowed"


@pytest.mark.parametrize(
    "message",
    [
        "text", b"", b"\xc1", b"\x92\x01", packed(3), packed(None), packed([1]), packed({}), packed({"type": 3}),
        packed({"type": ["a"]}), packed({1: 2}), b"\x81\xa4type\xa1\xff", b"\x91" * 100_000,
    ],
)  # fmt: skip
def test_junk(message: Any) -> None:
    assert reason(message) in ("text instead of bytes", "not readable", "not allowed")


def test_more_after_the_end() -> None:
    assert reason(packed(CAMERA) + b"\x00") == "not readable"


@pytest.mark.parametrize(
    "change",
    [
        {"fov": math.nan}, {"fov": math.inf}, {"fov": "1"}, {"fov": True}, {"fov": None}, {"fov": [1]}, {"far": 1e16},
        {"position": [0, 0]}, {"position": [0, 0, 0, 0]}, {"position": [0, 0, math.nan]}, {"position": "abc"},
        {"position": {"0": 0}}, {"wxyz": [0, 0, 0, 0]}, {"wxyz": [9, 0, 0, 0]}, {"image_width": 1.5},
        {"image_width": 2**60}, {"image_width": False},
    ],
)  # fmt: skip
def test_wrong_values_of_a_camera(change: dict[str, Any]) -> None:
    assert reason({**CAMERA, **change}) == "wrong value"


def test_wrong_fields() -> None:
    assert reason({**CAMERA, "excluded_self_client": 3}) == "wrong fields"
    assert reason({name: value for name, value in CAMERA.items() if name != "fov"}) == "wrong fields"


@pytest.mark.parametrize("updates", [{"label": "x"}, {"value": 1, "disabled": False}, {}, {"value": 1, "__class__": 2}])
def test_only_values_of_widgets(updates: dict[str, Any]) -> None:
    assert reason({"type": "GuiUpdateMessage", "uuid": "u", "updates": updates}) == "not a value"


@pytest.mark.parametrize(
    "value",
    [
        None, math.nan, math.inf, [math.nan], {"a": 1}, b"bytes", [[[[1]]]], "x" * (LONGEST_VALUE + 1),
        [0] * (LONGEST_LIST + 1),
    ],
)  # fmt: skip
def test_values_that_no_widget_has(value: Any) -> None:
    assert reason({"type": "GuiUpdateMessage", "uuid": "u", "updates": {"value": value}}) == "wrong value"


def test_choices() -> None:
    pointer = next(message for message in GOOD if message["type"] == "ScenePointerMessage")
    assert reason({**pointer, "event_type": "rub"}) == "wrong value"
    assert reason({**pointer, "modifier": "meta"}) == "wrong value"
    assert reason({**pointer, "screen_pos": [[0, 0]] * 65}) == "wrong value"


def test_sizes() -> None:
    assert reason({"type": "GuiFormDirtyMessage", "uuid": "x" * LARGEST_PLAIN}) == "too large"
    big = {"type": "FileTransferPart", "source_component_uuid": "u", "transfer_uuid": "t", "part_index": 0}
    assert reason({**big, "content": b"x" * 700_000}) == "too large"
    assert reason(b"x" * 9_000_000) == "too large"


def test_mutated_messages_never_raise() -> None:
    """What passes, viser can read; what does not, has a reason."""
    rng = random.Random(8)
    passed = 0
    for _ in range(200_000 if os.environ.get("VERTEBRA_SOAK") == "1" else 5_000):
        data = bytearray(packed(rng.choice(GOOD)))[:4000]
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        found = SCHEMA.read(bytes(data))
        if not isinstance(found, Refused):
            passed += 1
            viser._messages.Message.deserialize(bytes(data))
    assert passed


# What may be uploaded, and that nothing is remembered of what was refused.

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


def test_a_few_uploads_at_the_same_time() -> None:
    uploads = Uploads(LIMIT)
    for count in range(MOST_AT_ONCE):
        assert uploads.refuse_start("me", start(str(count))) == ""
    assert uploads.refuse_start("me", start("more")) == "upload while others run"
    assert uploads.refuse_start("you", start("yours")) == ""
    assert uploads.of("me") == [str(count) for count in range(MOST_AT_ONCE)]


def test_long_names() -> None:
    assert Uploads(LIMIT).refuse_start("me", start(filename="ä" * 128)) == "upload with a long name"


# Values for widgets: of the right kind, among the options, within the range.

PLAIN = SimpleNamespace()


@pytest.mark.parametrize(
    ("value", "now"),
    [
        (True, False), (3, 1), (3.0, 1), (3, 1.5), (2.5, 1.0), ("b", "a"), ([1, 2.5], (0.0, 0.0)), ([1, 2], (0, 0)),
        (["x"], ("a",)),
    ],
)  # fmt: skip
def test_the_same_kind(value: Any, now: Any) -> None:
    assert fits_widget(value, now, PLAIN)


@pytest.mark.parametrize(
    ("value", "now"),
    [
        (1, False), (True, 1), (True, 1.0), (2.5, 1), ("3", 1), ("3", 1.0), (3, "a"), ([1], 1.0), (1.0, (1.0,)),
        ([1.0], (1.0, 2.0)), ([1.0, "a"], (1.0, 2.0)), ("ab", ("a", "b")), (b"x", object()), (1, None), ("a", object()),
    ],
)  # fmt: skip
def test_another_kind(value: Any, now: Any) -> None:
    """Viser would cast some of these, and fail in its handler on the others."""
    assert not fits_widget(value, now, PLAIN)


def test_options_and_ranges() -> None:
    assert fits_widget("b", "a", SimpleNamespace(options=("a", "b")))
    assert not fits_widget("c", "a", SimpleNamespace(options=("a", "b")))
    slider = SimpleNamespace(min=0.0, max=2.0)
    assert fits_widget(2, 1.0, slider)
    assert not fits_widget(2.001, 1.0, slider)
    assert not fits_widget(-1, 1.0, slider)
    assert fits_widget(1e9, 1.0, SimpleNamespace(min=None, max=None))
