"""What may stand in the settings of the Motion tab."""

import pytest
from pydantic import ValidationError

from vertebra.studio.motion.settings import MotionSettings

WRONG = {
    "source": "dance",
    "pull": "push",
    "cable": 0,
    "amplitude": 1e7,
    "frequency": 0.0,
    "tensions": [-1.0],
    "duration": 61.0,
    "damping": -1e-9,
    "step_ms": -1.0,
    "pattern": "4d",
    "amplitude_deg": 91.0,
    "period": 0.0,
    "file": "x" * 256,
    "method": "project",
    "most_tension": 0.0,
    "speed": 0.0,
    "unknown": 1,
}


@pytest.mark.parametrize("field", WRONG)
def test_what_is_out_of_bounds_is_refused(field):
    with pytest.raises(ValidationError) as caught:
        MotionSettings.model_validate({field: WRONG[field]})
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize("field", ["amplitude", "duration", "damping", "tensions"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nothing_is_infinite_or_no_number(field, value):
    with pytest.raises(ValidationError):
        MotionSettings.model_validate({field: [value] if field == "tensions" else value})


def test_every_field_is_bounded_here():
    assert set(WRONG) - {"unknown"} == set(MotionSettings.model_fields) - {"fill_inertia", "repeat"}


def test_too_many_tensions_are_refused():
    with pytest.raises(ValidationError):
        MotionSettings(tensions=(1.0,) * 1001)


def test_settings_survive_json():
    given = MotionSettings(source="file", file="a.csv", tensions=(1.0, 2.5), amplitude=-3.0, repeat=False)
    assert MotionSettings.model_validate_json(given.model_dump_json(exclude_defaults=True)) == given
