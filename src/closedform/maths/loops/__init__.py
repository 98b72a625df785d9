"""Robots with closed loops: embedding in the spanning tree, its derivatives, forces of the loops."""
