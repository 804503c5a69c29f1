"""The web server of the studio, and who is let in."""
