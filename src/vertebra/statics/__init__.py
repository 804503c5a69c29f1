"""Which shape do cables give, which cables give a shape, and how stiff is it."""
