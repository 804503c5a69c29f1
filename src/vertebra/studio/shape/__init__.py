"""The tab Shape: cables, mount and loads give a shape."""
