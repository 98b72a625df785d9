"""Kernels as operators of other frameworks."""
