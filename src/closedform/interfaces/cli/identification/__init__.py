"""Commands that identify robots from logs."""
