"""Measurements for whoever has a card: fifteen minutes, in the formats that `workbench validate --from-files` reads."""
