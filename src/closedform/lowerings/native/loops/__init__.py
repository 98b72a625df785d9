"""Loops over the units of large robots as machine code."""
