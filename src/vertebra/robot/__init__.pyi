"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.robot.description import json_schema as json_schema
from vertebra.robot.export.common import mjcf_qpos as mjcf_qpos
from vertebra.robot.export.common import urdf_coordinates as urdf_coordinates
