"""The compiled core: joint law, cable law and chain recursion as small functions on the tables of a `Robot`."""
