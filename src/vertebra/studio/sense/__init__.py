"""The tab Sense: the shape that orientation sensors give."""
