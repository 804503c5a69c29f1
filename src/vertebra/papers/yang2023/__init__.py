"""Yang et al. 2023: kinetostatics of cable-driven continuum robots with flexures, cable friction and weight."""
