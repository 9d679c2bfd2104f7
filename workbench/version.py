"""The version of the package, and the time at which this process imported it."""

from __future__ import annotations

import time

__version__ = "0.6.0.dev0"

IMPORTED_NS = time.time_ns()
"""When this process imported the package: what was edited later is not, or not in whole, what it runs."""
