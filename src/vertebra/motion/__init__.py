"""How robots get about: follow-the-leader of two concentric friction-locked snakes."""
