"""What the placement reads."""

SHIFT = 0
