"""The web server of the studio, and who may come in."""
