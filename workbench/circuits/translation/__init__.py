"""Circuits of the translation directory."""
