"""Algorithms that keep every body in its own frame."""
