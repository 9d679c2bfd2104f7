"""Circuits of dispatch: which priority is on top, which module takes a group."""
