"""Circuits of placement: a memory's bitmap, the starts that fit, the searches from both ends, the comparator."""
