"""A robot from a file that was dropped on the page: the same reader and the same checks as for files on disk."""

from __future__ import annotations

from pathlib import PurePath

from vertebra.errors import StudioError
from vertebra.robot.reading import parse_json, parse_yaml, validate
from vertebra.robot.robot import Robot
from vertebra.studio.state import RobotSource


def file_robot(name: str, content: bytes) -> tuple[Robot, RobotSource]:
    """The robot of a file's content; `DescriptionError` lists every wrong field."""
    name = PurePath(name.replace("\\", "/")).name[:100] or "robot.yaml"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StudioError(name, "is no text file; a robot file is YAML or JSON in UTF-8") from None
    parse = parse_json if name.lower().endswith(".json") else parse_yaml
    robot = Robot(validate(parse(text, name), name))
    return robot, RobotSource(name=name, text=text)
