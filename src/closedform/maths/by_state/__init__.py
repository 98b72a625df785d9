"""Derivatives by the state: definitions in closed form, and algorithms in one frame."""
