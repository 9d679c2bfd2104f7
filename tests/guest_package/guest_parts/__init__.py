"""A part of each kind, for the tests of the workbench."""
