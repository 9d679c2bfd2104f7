"""A slow twin of the whole node, written from specification 6 alone; README.md says what goes in and comes out."""
