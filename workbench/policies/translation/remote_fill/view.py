"""What a rule for copies after a remote hit sees (spec 4, E9)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view


@view
class RemoteFillView(NamedTuple):
    """A peer has answered."""

    core: int = number("who asked")
    peer: int = number("who answered")
    cores: int = number("how many cores there are")
    entries: int = number("entries of a private TLB")
    held: int = number("entries of the asker's private TLB that are in use")
    degree: int = number("how many cores hold the page, as the asker's directory says; 1 where there is none")
    pairs: np.ndarray = readable(
        "int64", "cores * cores", "as for the fill from the shared TLB: `pairs[core * cores + peer]`"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
