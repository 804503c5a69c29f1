"""Which shape cables give, which cables give a shape, how stiff it is."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
