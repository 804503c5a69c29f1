"""What a motion needs, which tensions give it, how the robot moves."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
