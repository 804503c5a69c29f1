"""Benchmarks: ratios between a reference and ours, measured in one run."""
