"""Snakes of ball joints locked by friction: how much load until a link slips, and which tensions hold most."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

from vertebra.payload.limit import payload


class _CallableRoom(ModuleType):
    # `vertebra.payload` is this room and also the public function of the same name: importing any part of the room
    # would otherwise put the module in the place of the function.
    __call__ = staticmethod(payload)


sys.modules[__name__].__class__ = _CallableRoom
__signature__ = inspect.signature(payload)
