"""What a probe sees (spec 3, Em. 4-7)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, number, readable, view
from workbench.policies.placement.free_map_text import as_text


@view
class ProbeView(NamedTuple):
    """One resource of one unit."""

    free: np.ndarray = readable("uint64", "words", "its free map (see `free_map`), 1 = free")
    blocks: int = number("how many blocks the resource has")
    levers: Any = PARAMS

    def __str__(self) -> str:
        """Return the question in words."""
        return f"the state {as_text(self.free, self.blocks)}"
