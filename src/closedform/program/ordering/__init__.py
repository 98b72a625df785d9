"""In which order a program is computed, and what a machine makes of it."""
