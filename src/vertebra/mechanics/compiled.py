"""How kernels are compiled, in one place."""

from __future__ import annotations

from numba import njit

# cache: compiled once for a machine and kept on disk. numpy error model: x/0 is inf, not an exception, which keeps
# loops free of branches; kernels guard the places where it can happen. nogil: batches run on threads.
# No fastmath: the same inputs give the same bits.
kernel = njit(cache=True, error_model="numpy", nogil=True)
