"""The compiled kernels: small pure functions on the tables of a `Robot`."""
