"""What a choice of a lending card sees (spec 5, R15, R18-R21), and what a notice of the choice is told."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view, writable


@view
class TargetView(NamedTuple):
    """A request of an application, and the cards that may lend to it."""

    borrower: int = number("the card whose application asks")
    count: int = number("how many candidates there are, at least 1; arrays of candidates may be longer")  # type: ignore[assignment]
    cards: np.ndarray = readable("int64", "candidates", "the candidates, increasing")
    size: int = number("bytes that it asks for")
    free: np.ndarray = readable("int64", "all cards", "cached and physically free bytes of each card")
    gbps: np.ndarray = readable("float64", "all cards", "bandwidth of the path from each card to the borrower, GB/s")
    hops: np.ndarray = readable("int64", "all cards", "direct links of that path")
    lent: np.ndarray = readable(
        "float64", "all cards", "how often (or how many bytes) the borrower got from each card lately"
    )
    held: np.ndarray = readable("int64", "all cards", "bytes in use on each card")
    totals: np.ndarray = readable("int64", "all cards", "bytes that applications can have of each card")
    hosts: np.ndarray = readable("int64", "all cards", "1 = the card is a CPU")
    scores: np.ndarray = writable(
        "float64", "candidates", "to be filled: the score of each candidate, by its position; minus infinity refuses it"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class TargetNotice(NamedTuple):
    """The card that was taken."""

    card: int = number("the card that lends")
    cards: int = number("how many cards there are in all")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
