"""Simulated sensors: what a network would send while a robot moves as commanded."""
