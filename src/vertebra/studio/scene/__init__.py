"""What the studio draws: the robot and everything around it, as nodes that are updated in place."""
