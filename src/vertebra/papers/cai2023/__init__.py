"""Cai et al. 2023: payload of friction-locked ball links, published and ours; the paper's own method."""
