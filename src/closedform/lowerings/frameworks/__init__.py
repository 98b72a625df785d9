"""Kernels as operators of frameworks, each imported by one file, when it is asked for."""
