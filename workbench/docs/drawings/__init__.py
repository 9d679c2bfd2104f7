"""Drawings that the code makes: small SVG pictures of what a policy or an engine really did.

A drawing never repeats by hand what the code decides: it asks the policy or runs the engine, and draws the reply.
`{{drawing NAME}}` on a page stands for the drawing of that name; reference pages have some of their own.
"""

from workbench.docs.drawings.known import DRAWINGS, drawn, of_policy, of_preset, of_question

__all__ = ["DRAWINGS", "drawn", "of_policy", "of_preset", "of_question"]
