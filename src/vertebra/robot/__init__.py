"""What a robot is: file format, presets, the frozen `Robot`, exports; no physics."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
