"""How each sensor sits on its link, from three short recordings: what was found, how surely, and what was not."""
