"""Faces of the library: the command line."""
