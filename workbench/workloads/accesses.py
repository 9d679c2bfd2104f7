"""Accesses to virtual pages: what the engine `translation` serves, in blocks, so that a long trace streams through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROWS = 1 << 16
"""Rows of a block, about: what comes does not depend on it, only how much is held at once."""


class Accesses(NamedTuple):
    """A block of a trace of translations: one row an access of a core, cycles not decreasing (nor from block to block).

    A core's accesses are in the order in which it issues them; a page that is unmapped loses every translation.
    """

    cycle: np.ndarray
    """int64[accesses], the earliest cycle at which each is issued."""
    core: np.ndarray
    """int32[accesses], who asks, from 0."""
    page: np.ndarray
    """int64[accesses], the virtual page number in pages of the machine, from 0; in an unmapping row the page that
    goes."""
    unmap: np.ndarray | None = None
    """bool[accesses], whether a row unmaps its page instead of accessing it; None = no row does."""
