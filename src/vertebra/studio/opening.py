"""Open the studio for a robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vertebra.robot.robot import load, presets
from vertebra.studio.robot_source import file_robot
from vertebra.studio.serving.folder import Folder
from vertebra.studio.serving.server import Access, open_server
from vertebra.studio.state import RobotSource

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio


def open_studio(
    robot: str, *, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, folder: Path = Path(".")
) -> Studio:
    """A studio that serves its page; `close` ends it. `robot`: a preset or the path of a robot file."""
    if robot in presets():
        chosen, source = load(robot), RobotSource(name=robot)
    else:
        load(robot)  # says what is wrong with a path
        chosen, source = file_robot(Path(robot).name, Path(robot).read_bytes())
    opened: list[Studio] = []
    server = open_server(
        Access(host, port, token),
        label="Vertebra studio",
        on_state=lambda text: opened[0].open_link(text) if opened else None,
    )
    try:
        from vertebra.studio.studio import Studio  # needs viser, which `open_server` asks for in words

        opened.append(Studio(server, chosen, source, Folder(folder)))
    except BaseException:
        server.stop()
        raise
    return opened[0]
