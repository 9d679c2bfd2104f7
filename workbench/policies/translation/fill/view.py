"""What a fill rule sees when a translation comes (spec 4, R14-R20), and what it is told of its copies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view, writable


@view
class FillView(NamedTuple):
    """A translation that comes from the shared TLB or the page table."""

    core: int = number("the requester, the destination of the fill")
    cores: int = number("how many cores there are")
    entries: int = number("entries of a private TLB")
    held: int = number("entries of the requester's private TLB that are in use")
    shared: int = number("of these, those whose bitmap names at least one other core")
    pairs: np.ndarray = readable(
        "int64",
        "cores * cores",
        "of the entries of each core, those that it shares with each other core, as its own directory says: "
        "`pairs[core * cores + peer]`; zeros where there is no directory",
    )
    push: np.ndarray = writable("int64", "cores", "to be filled: cores that get a copy as well")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class FillNotice(NamedTuple):
    """What became of a copy that a core caused in another."""

    core: int = number("the core whose fill caused the copy")
    peer: int = number("the core that holds it")
    used: int = number("1 = it is used for the first time, 0 = it leaves to make room without having been used")
    cores: int = number("how many cores there are")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
