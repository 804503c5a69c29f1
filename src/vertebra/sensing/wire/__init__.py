"""What travels on wires: WitMotion bytes, CAN frames, buses, and the gateway between them."""
