"""Compiled code and programs on disk."""
