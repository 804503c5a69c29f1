"""Puts compiled kernels into the wheel, for `make wheel`; without them the wheel is the plain one."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "VERTEBRA_KERNELS"
"""The environment variable that names the folder of kernels to ship."""


class ShippedKernels(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get(KERNELS)
        if not folder or version == "editable":
            return
        for file in Path(folder).resolve().glob("*.kernel"):
            build_data["force_include"][str(file)] = f"vertebra/mechanics/compiled_kernels/{file.name}"
        # Machine code of one Python and one platform: the name of the wheel says so.
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
