"""A slow twin of the whole node, from the sentences of specification 6 alone; README.md says what goes in and comes out."""
