"""The tab Motion: what a motion needs, and how the robot moves."""
