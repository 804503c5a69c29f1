"""What writes the generated parts of the README and the docs."""
