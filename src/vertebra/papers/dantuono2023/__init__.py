"""D'Antuono et al. 2023: Newton-Euler dynamics of a rolling-joint robot, and the cable tensions of three motions."""
