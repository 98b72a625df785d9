"""How kernels of a GPU are launched."""
