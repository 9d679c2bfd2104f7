"""Circuits of device malloc: the prefix sum of a warp."""
