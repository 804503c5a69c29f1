"""How every answer changes with everything it depends on."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
