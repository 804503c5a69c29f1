"""Design studies: sweeps, workspaces, uncertainty and optimisation, in this process or on a cluster."""

from vertebra.names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
