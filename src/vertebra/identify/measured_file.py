"""What all files of measured data have in common: text in, cells out, and an error that says where."""

from __future__ import annotations

from vertebra.robot.csv import MAX_BYTES, file_error, is_number, read_text, split_cells

__all__ = ["MAX_BYTES", "SIMULATED", "file_error", "is_number", "read_text", "split_cells"]

SIMULATED = "# simulated"
"""How the first line of a file of simulated data begins."""
