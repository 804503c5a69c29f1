"""Forms: what a tab sets is declared once, so all fields of all tabs are tested alike; and values that windows send."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.studio.whole_studio import Running, running

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.form import Check, Choice, FileChoice, Form, Number, Sliders, Text, keep_in_range
from vertebra.studio.motion.settings import MotionSettings
from vertebra.studio.payload.settings import PayloadSettings
from vertebra.studio.sense.settings import SenseSettings
from vertebra.studio.shape.settings import ShapeSettings
from vertebra.studio.state import RobotSource, from_json, to_json
from vertebra.studio.tab import Settings

SAVED = Path(__file__).parent / "saved"
LARGE = st.one_of(st.floats(), st.integers(-(2**63), 2**64 - 1))


class Control(SimpleNamespace):
    """Counts how often its value is set, since every set goes to all windows."""

    sets = 0

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "value":
            super().__setattr__("sets", self.sets + 1)


def kept(**fields: Any) -> Any:
    handle = Control(**fields)
    keep_in_range(handle)
    return handle.value


@given(LARGE)
def test_a_slider_stays_between_its_ends(value: float) -> None:
    answer = kept(value=value, min=-2.0, max=5.0)
    assert -2.0 <= answer <= 5.0
    if -2.0 <= value <= 5.0:
        assert answer == value


@given(st.tuples(LARGE, LARGE, LARGE))
def test_every_part_of_a_vector_stays_between_its_ends(value: tuple[float, ...]) -> None:
    answer = kept(value=value, min=(-1.0, -2.0, -3.0), max=(1.0, 2.0, 3.0))
    assert all(-limit <= part <= limit for part, limit in zip(answer, (1, 2, 3), strict=True))


@given(st.tuples(LARGE, LARGE))
def test_without_ends_only_what_is_no_number_is_replaced(value: tuple[float, ...]) -> None:
    answer = kept(value=value, min=None, max=None)
    for part, before in zip(answer, value, strict=True):
        assert part == (before if math.isfinite(before) else 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_becomes_one(value: float) -> None:
    assert kept(value=value, min=3.0, max=5.0) == 3.0
    assert kept(value=value, min=None, max=5.0) == 0.0
    assert kept(value=value, min=None, max=-1.0) == -1.0


@pytest.mark.parametrize("value", ["c", "", None, 3, "../a"])
def test_what_is_no_option_becomes_the_first(value: Any) -> None:
    assert kept(value=value, options=("a", "b")) == "a"
    assert kept(value="b", options=("a", "b")) == "b"


@pytest.mark.parametrize("value", [True, "text", b"bytes"])
def test_other_values_are_let_alone(value: Any) -> None:
    assert kept(value=value) == value


def test_a_control_without_a_value_is_let_alone() -> None:
    keep_in_range(SimpleNamespace())


def test_a_good_value_is_not_set_again() -> None:
    handle = Control(value=1.0, min=0.0, max=2.0)
    keep_in_range(handle)
    assert handle.sets == 0


# Settings, alike for all tabs ----------------------------------------------------------------------------------------

TYPES = (ShapeSettings, PayloadSettings, MotionSettings, SenseSettings)
FIELDS = [(kind, name) for kind in TYPES for name in kind.model_fields]


def bounds(schema: dict[str, Any]) -> Iterator[Any]:
    """Values just beyond what a field allows."""
    for part in schema.get("anyOf", [schema]):
        if "enum" in part:
            yield "none of these"
        if part.get("type") == "string" and "maxLength" in part:
            yield "x" * (part["maxLength"] + 1)
        if part.get("type") in ("number", "integer"):
            yield from (part["minimum"] - 1,) if "minimum" in part else (part["exclusiveMinimum"],)
            yield part["maximum"] + 1
        if part.get("type") == "number":
            yield from (math.nan, math.inf, -math.inf)
        if part.get("type") == "array":
            yield [None]
            yield from ([value] for value in bounds(part["items"]))
            yield [part["items"].get("minimum", {"link": 1, "force": (0.0, 0.0, 0.0)})] * (part["maxItems"] + 1)


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_every_field_is_bounded(kind: type[Settings], name: str) -> None:
    schema = kind.model_json_schema()["properties"][name]
    wrong = ["yes or no"] if schema.get("type") == "boolean" else list(bounds(schema))
    assert wrong
    for value in wrong:
        with pytest.raises(ValidationError) as caught:
            kind.model_validate({name: value})
        assert caught.value.errors()[0]["loc"][0] == name
    assert kind.model_validate({}) == kind()
    with pytest.raises(ValidationError):
        kind.model_validate({"unknown": 1})


# Forms of the real tabs ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("files")
    for name in ("a.csv", "b.csv", "c.yaml", "d.blf"):
        (folder / name).write_text("x")
    with running(folder) as page:
        page.good(lambda: page.studio.choose_mode("papers"))  # whose settings are not of this kind
        yield page


def drawn(form: Form[Any], chance: random.Random) -> Any:
    """Settings that the controls can show."""
    values: dict[str, Any] = {}
    for name, control in form._controls.items():
        numbers = tuple(
            round(chance.uniform(each.min, each.max), 4) for each in control.handles if hasattr(each, "min")
        )
        match control.widget:
            case Check():
                values[name] = chance.random() < 0.5
            case Choice():
                values[name] = chance.choice(list(control.choices))
            case Sliders():
                values[name] = numbers if len(numbers) == len(control.first) else numbers * len(control.first)
            case Number():
                values[name] = numbers[0]
            case Text():
                values[name] = chance.choice(("virtual://a", "socketcan://can1"))
            case _:
                raise AssertionError(f"a widget that is not drawn: {control.widget}")
    return form._type(**values)


def forms(page: Running, name: str) -> Iterator[tuple[Any, Form[Any]]]:
    """The tabs that have something to set for a robot."""
    page.good(lambda: page.studio.choose_robot(vb.load(name), RobotSource(name=name)))
    for tab in page.studio.tabs.values():
        if tab.form is not None:
            yield tab, tab.form


@pytest.mark.parametrize("name", vb.presets())
def test_what_is_written_is_read(page: Running, name: str) -> None:
    chance = random.Random(name)
    for tab, form in forms(page, name):
        for _ in range(3):
            settings = drawn(form, chance)
            page.good(lambda tab=tab, settings=settings: tab.restore(settings))
            assert page.good(tab.settings) == settings
            saved = tab.settings_type.model_validate_json(settings.model_dump_json(exclude_defaults=True))
            assert saved == settings


@pytest.mark.parametrize("name", ["hu2023-prototype", "cai2023", "lapusan2022", "dantuono2023"])
def test_only_what_applies_is_shown_and_what_is_not_set_has_its_first_value(page: Running, name: str) -> None:
    chance = random.Random(2)
    for tab, form in forms(page, name):
        firsts = page.good(tab.settings)
        page.good(lambda tab=tab, form=form: tab.restore(drawn(form, chance)))
        settings = page.good(tab.settings)
        for control in form._controls.values():
            if control.widget.shown is not None:
                assert {handle.visible for handle in control.handles} <= {control.widget.shown(settings)}
        default = tab.settings_type(**({"sensor": firsts.sensor} if tab.name == "sense" else {}))
        page.good(lambda tab=tab, default=default: tab.restore(default))
        found = page.good(tab.settings)
        for field, value in default:
            if value is None or value == ():
                assert getattr(found, field) == getattr(firsts, field), field


@pytest.mark.parametrize("name", ["hu2023-prototype", "cai2023", "dantuono2023"])
def test_what_does_not_fit_is_named_and_changes_nothing(page: Running, name: str) -> None:
    for tab, form in forms(page, name):
        before = page.good(tab.settings)
        for field, control in form._controls.items():
            wrong: Any = None
            if isinstance(control.widget, Sliders):
                wrong = (1.0,) * (len(control.first) + 1)
            elif isinstance(control.widget, FileChoice):
                wrong = "../secret.csv"
            elif isinstance(control.widget, Choice) and all(isinstance(value, int) for value in control.choices):
                wrong = 999
            if wrong is None:
                continue
            error = page.do(lambda tab=tab, field=field, wrong=wrong: tab.restore(tab.settings_type(**{field: wrong})))
            assert isinstance(error, StudioError)
            assert error.field == f"tabs.{tab.name}.{field}"
            assert page.good(tab.settings) == before


def test_a_person_moves_a_control(page: Running) -> None:
    """The event of a control comes to the tab with the name of the field, and the share link follows."""
    tab = {tab.name: tab for tab, _ in forms(page, "dantuono2023")}["motion"]
    told: list[str] = []
    form: Form[Any] = tab.form
    form._changed = told.append
    (slider,) = form.handles("duration")

    def move() -> None:
        slider.value = 2.5
        page.studio.act(lambda: form._moved("duration"), slider)

    page.good(move)
    assert told == ["duration"]
    assert page.state.tabs["motion"]["duration"] == 2.5


def test_files_are_listed_again_and_a_choice_stays(page: Running) -> None:
    tab = {tab.name: tab for tab, _ in forms(page, "dantuono2023")}["motion"]
    page.good(lambda: tab.restore(MotionSettings(file="b.csv")))
    (page.studio.folder.path / "aa.csv").write_text("x")
    page.good(tab.form.list_files)
    (choice,) = tab.form.handles("file")
    assert choice.options == ("choose a file", "a.csv", "aa.csv", "b.csv")
    assert page.good(tab.settings).file == "b.csv"
    (page.studio.folder.path / "b.csv").rename(page.studio.folder.path / "b.txt")
    page.good(tab.form.list_files)
    assert page.good(tab.settings).file == ""
    (page.studio.folder.path / "b.txt").rename(page.studio.folder.path / "b.csv")


@pytest.mark.parametrize("file", sorted(SAVED.iterdir()), ids=lambda file: file.stem)
def test_states_saved_by_an_earlier_version_are_the_same_today(page: Running, file: Path) -> None:
    text = file.read_text()
    page.good(lambda: page.studio.restore(from_json(text)))
    assert to_json(page.state) == text


def test_a_long_list_of_options_says_how_many_more_there_are() -> None:
    from vertebra.studio.form import Control as Shown

    robot = vb.load("hu2023-planar")
    for count, end in ((20, ", 20 for"), (23, ", 20 and 3 more for")):
        choices = {k: str(k) for k in range(1, count + 1)}
        widget = Choice("Cable", choices)
        assert end in widget.problem(Shown(widget, [], 1, choices), 99, robot)
