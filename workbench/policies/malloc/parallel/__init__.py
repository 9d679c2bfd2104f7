"""Heaps that serve in parallel: what each atomic operation of a request touches (spec 2, section 9)."""
