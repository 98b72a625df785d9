"""Algorithms that write everything in one frame."""
