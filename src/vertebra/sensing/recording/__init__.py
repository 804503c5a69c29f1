"""Recordings: what came over the bus (BLF, candump, CSV) and what the estimator made of it (MCAP)."""
