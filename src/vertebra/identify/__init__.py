"""What measurements say: friction of a cable in its hole from a rig, parameters of a robot from its shapes."""
