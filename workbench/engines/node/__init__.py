"""The whole node: five mechanisms in one simulation (spec 6)."""
