"""Handlers for XLA's foreign functions, written as IR: on a CPU, and on CUDA devices."""
