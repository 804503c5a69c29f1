"""Follow-the-leader of two concentric friction-locked snakes."""
