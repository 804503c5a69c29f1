"""Snakes of ball joints locked by friction: how much load until a link slips, and which tensions hold most."""
