"""`vertebra sense dbc`."""

from __future__ import annotations

import cantools
import pytest

from vertebra.sensing.wire.dbc import dbc_path


def test_the_file_that_comes_with_vertebra_is_printed(vertebra):
    assert vertebra("sense", "dbc").out == dbc_path().read_text(encoding="utf-8")


def test_more_sensors_in_a_file(vertebra, tmp_path):
    ran = vertebra("sense", "dbc", "--sensors", "100", "--out", str(tmp_path / "all.dbc"))
    assert ran.code == 0
    names = {message.name for message in cantools.database.load_file(tmp_path / "all.dbc").messages}
    assert len(names) == 401
    assert "SYNC" in names


@pytest.mark.parametrize(("arguments", "word"), [(("--sensors", "200"), "128"), (("--out", "all.txt"), ".dbc")])
def test_what_cannot_be(vertebra, arguments, word):
    ran = vertebra("sense", "dbc", *arguments)
    assert ran.code == 2
    assert word in ran.err
