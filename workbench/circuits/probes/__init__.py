"""The circuits of probes (spec 3, Em. 4-7)."""
