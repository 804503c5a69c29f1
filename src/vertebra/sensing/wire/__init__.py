"""What goes over the wires: WitMotion bytes, CAN frames, buses, and the gateway between them."""
