"""Circuits of the memory pool."""
