"""What a robot is: the file format, the presets, the immutable `Robot` and its exports. No physics."""
