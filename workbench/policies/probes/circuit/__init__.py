"""The source document's probes as readable reference: bit vectors, and gate lists that are counted and evaluated."""
