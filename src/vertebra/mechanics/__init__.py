"""The compiled core, and the public functions right above it."""
