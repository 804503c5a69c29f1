"""Hardware in the loop without the hardware: a virtual robot on a real bus, the estimator beside it, and the score."""
