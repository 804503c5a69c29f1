"""One package per paper: its robots, its cases, its published numbers, ours, and what holds."""
