"""Kernels for a real card: the optional part `gpu`. Numba's CUDA simulator runs them without one, to check results."""
