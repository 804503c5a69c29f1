"""Lapusan et al. 2022: shape of a robot of universal-joint modules from a network of orientation sensors."""
