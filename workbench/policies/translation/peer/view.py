"""What a choice of a peer sees (spec 4, R7)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view


@view
class PeerView(NamedTuple):
    """A miss, and the cores that hold its page."""

    core: int = number("who asks")
    cores: int = number("how many cores there are")
    others: np.ndarray = readable(
        "uint64",
        "words",
        "the holders that may be asked: core c is bit c % 64 of word c // 64 (see `core_bits`); at "
        "least one, never the asker, never one that has already answered in the negative",
    )
    hops: np.ndarray = readable("int64", "cores * cores", "routers between two cores: `hops[core * cores + peer]`")
    load: np.ndarray = readable("int64", "cores", "requests that each core has been sent so far")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
