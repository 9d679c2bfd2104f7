"""Generators of applications for a whole node (spec 6, R8)."""
