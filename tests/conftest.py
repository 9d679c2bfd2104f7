"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("workbench", deadline=None)  # the first call of compiled code waits for its compilation
settings.load_profile("workbench")
