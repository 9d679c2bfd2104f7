"""What an eviction sees of a full set, of an entry that is used, and of a page that comes in (spec 4, R22)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view


@view
class EvictionView(NamedTuple):
    """One full set; its entries are `first` to `first + ways - 1`, all of them in use."""

    nth: int = number("which candidate of this eviction is asked for, 0 = the policy's first choice")
    previous: int = number("the entry that was proposed before it, -1 for the first")
    at: int = number("the number of the set, over all TLBs that the policy serves, from 0")
    first: int = number("the set's first entry")
    ways: int = number("how many entries the set has")
    newest: int = number("the entry that was used last")
    oldest: int = number("the entry that has not been used for longest")
    earliest: int = number("the entry that came first")
    entries: np.ndarray = readable(
        "int64",
        "entries * ROW",
        "numbers of each entry (see `entry_sets`): `entries[entry * ROW + NEWER]` is the entry that "
        "was used next after it, OLDER the one before, LATER the one that came next, PAGE its page",
    )
    holders: np.ndarray = readable(
        "uint64",
        "pages * words",
        "the bitmaps of the directory; `degree(entries, holders, spread, base, words, entry)` counts how many cores "
        "hold an entry's page, the local one included; 1 where there is no directory",
    )
    spread: int = number("words from one page's bitmap to the next")
    base: int = number("where the bitmaps of this TLB begin")
    words: int = number("words of a bitmap; 0 = there is no directory")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class TouchView(NamedTuple):
    """An entry that is used."""

    entry: int = number("the entry")
    at: int = number("the number of its set, over all TLBs that the policy serves, from 0")
    first: int = number("the set's first entry")
    ways: int = number("how many entries the set has")
    fresh: int = number("1 = it is inserted, 0 = it is hit")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class IncomingView(NamedTuple):
    """A page that comes in, before an entry is asked for where the set is full."""

    page: int = number("the page, as `entries[entry * ROW + PAGE]` will have it")
    at: int = number("the number of its set, over all TLBs that the policy serves, from 0")
    first: int = number("the set's first entry")
    ways: int = number("how many entries the set has")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
