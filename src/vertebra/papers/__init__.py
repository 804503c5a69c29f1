"""Published papers beside ours: a folder per paper, and one declaration that every output reads (`paper.Paper`)."""

NAMES = ("hu2023", "yang2023", "cai2023", "dantuono2023", "lapusan2022")
"""The folders of the papers, in the order of all lists."""
