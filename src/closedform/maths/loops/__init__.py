"""Robots with closed loops: embedding in the spanning tree, derivatives, forces."""
