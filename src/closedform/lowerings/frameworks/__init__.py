"""Kernels as operators of JAX, PyTorch and CasADi."""
