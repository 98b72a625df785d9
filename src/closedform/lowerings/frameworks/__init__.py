"""Kernels as operators of JAX, PyTorch and CasADi, each imported by one file, when asked for."""
