"""Independent implementations that the kernels are compared with."""
