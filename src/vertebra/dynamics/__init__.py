"""What does a motion need, and how does the robot move (Newton-Euler, theory 6)."""
