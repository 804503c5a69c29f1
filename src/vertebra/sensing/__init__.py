"""What the sensors say: orientations of the links from a bus, the shape they give, its recording and its proof."""
