"""Shape sensing: orientations of the links from a bus, the shape they give, recordings, calibration, simulation."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
