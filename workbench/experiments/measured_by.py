"""Which code computed the measures of a row: an edited measure makes its cells missing, never its runs strangers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from workbench.experiments.mechanism import Mechanism
from workbench.experiments.run_id import digest

DIGITS = 16


def measures_digest(found: Mechanism) -> str:
    """Return the digest of the code in memory that computes an engine's measures: 16 hexadecimal digits."""
    return _digest(found.measure)


@functools.lru_cache(maxsize=64)
def _digest(measure: Callable[[Any], dict[str, float]]) -> str:
    return digest(measure.__code__.co_code.hex())[:DIGITS]
