"""Ball-joint snakes locked by friction: how much load until a link slips, and which tensions carry most."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
