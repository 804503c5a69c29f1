"""The command line: one module per command. Heavy imports stay inside the commands, so that help is instant."""
