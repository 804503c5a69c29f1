"""The DBC file says the same as the code: cantools reads what we write, and we read what it writes."""

from __future__ import annotations

import math
import random
from typing import Any

import cantools
import pytest

from vertebra.errors import InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.dbc import SHIPPED_NODES, dbc_path, dbc_text

ROUNDS = 300


@pytest.fixture(scope="module")
def database() -> Any:
    return cantools.database.load_file(dbc_path())


def test_the_shipped_file_is_what_the_code_writes() -> None:
    assert dbc_path().read_text(encoding="utf-8") == dbc_text()
    assert len(dbc_text(128)) < 2_000_000


def test_it_has_every_id_and_no_other(database: Any) -> None:
    ids = {message.frame_id for message in database.messages}
    kinds = (can.ANGLES, can.GYRO, can.QUATERNION, can.HEARTBEAT)
    assert ids == {can.SYNC} | {kind + node for kind in kinds for node in range(SHIPPED_NODES)}
    everything = cantools.database.load_string(dbc_text(128))
    assert len(everything.messages) == 1 + 4 * can.MOST_SENSORS
    assert all(can.kind_and_node(message.frame_id) for message in everything.messages)
    assert all(message.length == 8 and not message.is_extended_frame for message in everything.messages)


def tail(rng: random.Random) -> tuple[int, int, float]:
    return rng.randrange(65536), rng.randrange(8), rng.randrange(256) / 10_000


def same_tail(read: dict[str, Any], sample: can.Sample) -> bool:
    status = read["disturbed"] + 2 * read["unsettled"] + 4 * read["fault"]
    return (read["counter"], status) == (sample.counter, sample.status) and math.isclose(
        read["age"] / 1000, sample.age, abs_tol=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "name", "fields", "limit"),
    [
        (can.ANGLES, "ANGLES", ("roll", "pitch", "yaw"), math.pi),
        (can.GYRO, "GYRO", ("x", "y", "z"), math.radians(2000)),
    ],
)
def test_angles_and_rates(database: Any, kind: int, name: str, fields: tuple[str, ...], limit: float) -> None:
    rng = random.Random(kind)
    encode, decode = (can.angles_data, can.decode_angles) if kind == can.ANGLES else (can.gyro_data, can.decode_gyro)
    for _ in range(ROUNDS):
        node = rng.randrange(SHIPPED_NODES)
        data = encode([rng.uniform(-limit, limit) for _ in range(3)], *tail(rng))
        sample = decode(data)
        assert sample is not None
        read = database.decode_message(kind + node, data)
        assert [math.radians(read[field]) for field in fields] == pytest.approx(sample.values, abs=1e-12)
        assert same_tail(read, sample)
        assert database.get_message_by_name(f"{name}_{node}").encode(read) == data


def test_quaternions(database: Any) -> None:
    rng = random.Random(4)
    for _ in range(ROUNDS):
        data = can.quaternion_data([rng.gauss(0, 1) for _ in range(4)], *tail(rng))
        sample = can.decode_quaternion(data)
        assert sample is not None
        read = database.decode_message(can.QUATERNION + 7, data)
        largest = "wxyz".index(str(read["largest"]))
        others = [value for index, value in enumerate(sample.values) if index != largest]
        assert [read[name] for name in "abc"] == pytest.approx(others, abs=1e-12)
        assert sample.values[largest] == max(sample.values, key=abs)
        assert same_tail(read, sample)
        assert database.encode_message(can.QUATERNION + 7, read) == data


def test_sync_and_heartbeat(database: Any) -> None:
    rng = random.Random(5)
    for _ in range(ROUNDS):
        data = can.sync_data(rng.randrange(65536), rng.uniform(0, 1e6))
        sync, read = can.decode_sync(data), database.decode_message("SYNC", data)
        assert sync is not None
        assert (read["counter"], read["time"]) == (sync.counter, pytest.approx(sync.time, abs=1e-9))
        assert database.encode_message("SYNC", read) == data
        data = can.heartbeat_data(rng.uniform(0, 4e6), rng.randrange(65536), rng.randrange(256), rng.randrange(256))
        heartbeat, read = can.decode_heartbeat(data), database.decode_message("HEARTBEAT_31", data)
        assert heartbeat is not None
        assert read["uptime"] == pytest.approx(heartbeat.uptime, abs=1e-9)
        assert (read["checksum_errors"], read["rate"], read["flags"]) == heartbeat[1:]
        assert database.encode_message("HEARTBEAT_31", read) == data


def test_units_are_degrees(database: Any) -> None:
    assert [signal.unit for signal in database.get_message_by_name("ANGLES_3").signals][:3] == ["deg"] * 3
    assert database.get_message_by_name("GYRO_3").get_signal_by_name("x").unit == "deg/s"


@pytest.mark.parametrize("nodes", [0, 129])
def test_as_many_nodes_as_there_are_ids(nodes: int) -> None:
    with pytest.raises(InputError, match="1 to 128"):
        dbc_text(nodes)
