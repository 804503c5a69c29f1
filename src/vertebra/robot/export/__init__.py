"""A robot as a model file of other programs: MuJoCo's MJCF and URDF."""
