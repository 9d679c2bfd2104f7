"""Settings of all tests."""

from hypothesis import settings

from workbench.compiled import INTERPRETED

# The first call of compiled code waits for its compilation. Interpreted, the same code meets fewer examples: it is slow
# there, and what is looked for is a difference between the two ways of running, not a rare input.
settings.register_profile("compiled", deadline=None)
settings.register_profile("interpreted", deadline=None, max_examples=30)
settings.load_profile("interpreted" if INTERPRETED else "compiled")
