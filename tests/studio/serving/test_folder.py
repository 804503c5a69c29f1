"""The folder of a studio: nothing outside it is read or written, nothing in it is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from vertebra.errors import StudioError
from vertebra.studio.serving.folder import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "secret.yaml").write_text("secret")
    home = tmp_path / "home"
    (home / "below").mkdir(parents=True)
    for name in ("b.yaml", "a.YML", "c.json", ".hidden.yaml", "below/deep.yaml"):
        (home / name).write_text(name)
    return Folder(home)


BAD_NAMES = [
    "", " ", ".", "..", "../secret.yaml", "..\\secret.yaml", "/etc/passwd", "C:\\x.yaml", "C:x", "below/deep.yaml",
    "a/../b.yaml", "b.yaml\0.png", "\0", "b.yaml\n", ".hidden.yaml", "x" * 256, "ä" * 128, "~/x\\y", "\udc80.yaml",
    "a:b", "nul?", "b.yaml.", "b ",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_could_lead_elsewhere(folder: Folder, name: str) -> None:
    for ask in (folder.read_path, folder.write_path):
        with pytest.raises(StudioError) as caught:
            ask(name)
        assert ";" in caught.value.message, "says what to do"
        assert str(caught.value).isprintable()


def test_a_name_that_is_no_text(folder: Folder) -> None:
    with pytest.raises(StudioError):
        folder.read_path(None)  # type: ignore[arg-type]


def test_lists_plain_files_directly_in_it(folder: Folder) -> None:
    assert folder.names() == ["a.YML", "b.yaml", "c.json"]
    assert folder.names([".yaml", ".yml"]) == ["a.YML", "b.yaml"]
    assert folder.names([".png"]) == []


def test_reads_what_is_there(folder: Folder) -> None:
    assert folder.read_path("b.yaml").read_text() == "b.yaml"
    for name in ("none.yaml", "below"):
        with pytest.raises(StudioError, match=f"^{name}: there is no such file"):
            folder.read_path(name)


def test_links_out_of_the_folder(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "out.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder.path / "round.yaml").symlink_to(folder.path / "round.yaml")
    (folder.path / "gone.yaml").symlink_to(tmp_path / "not-there.yaml")
    (folder.path / "in.yaml").symlink_to(folder.path / "b.yaml")
    for name in ("out.yaml", "gone.yaml"):
        with pytest.raises(StudioError, match=f"^{name}: leads out of"):
            folder.read_path(name)
        with pytest.raises(StudioError, match=f"^{name}: leads out of"):
            folder.write_path(name)
    with pytest.raises(StudioError, match=r"^round\.yaml: "):
        folder.read_path("round.yaml")
    assert folder.read_path("in.yaml").read_text() == "b.yaml"
    assert folder.names([".yaml"]) == ["b.yaml", "in.yaml"]


def test_a_folder_reached_by_a_link_is_the_folder(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.path)
    assert Folder(tmp_path / "link").read_path("b.yaml") == folder.path / "b.yaml"


def test_never_overwrites(folder: Folder) -> None:
    assert folder.write_path("new.yaml") == folder.path / "new.yaml"
    assert folder.write_path("b.yaml") == folder.path / "b-2.yaml"
    (folder.path / "b-2.yaml").write_text("")
    (folder.path / "b-3.yaml").symlink_to(folder.path / "missing.yaml")
    assert folder.write_path("b.yaml") == folder.path / "b-4.yaml", "a dangling link counts as taken"
    assert folder.write_path("below") == folder.path / "below-2"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="no such folder"):
        Folder(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(StudioError, match="is not a folder"):
        Folder(tmp_path / "file")
    with pytest.raises(StudioError):
        Folder("a\0b")
