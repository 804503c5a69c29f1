"""Parameters from measurements: friction of cables, friction of ball joints, any parameter from measured shapes."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
