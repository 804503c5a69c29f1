"""Which parameters do measurements give: friction of a cable in its holes, from a rig with one disc."""
