"""The figure room: pictures of robots and self-contained pages. Metres come in, millimetres are drawn."""
