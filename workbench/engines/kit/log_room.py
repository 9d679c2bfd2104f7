"""Room for what a run writes down: kernels allocate nothing, and how much there is is known when the run has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Played = TypeVar("Played")
Sizes = Mapping[str, int]


def with_room(play: Callable[[Sizes], Played], needed: Callable[[Played, Sizes], Sizes], sizes: Sizes) -> Played:
    """Return a run that had room for everything: played once, and again with more room as long as some was missing.

    All plays are the same to the bit, for a log that is full is counted on and changes nothing else.

    Parameters
    ----------
    play : function of sizes
        Plays the run from its start.
    needed : function of what came of a play and its sizes
        The sizes that it would have needed.
    sizes : mapping of str to int
        Of the first play: 0 for a log of which nothing is known.

    Examples
    --------
    >>> with_room(lambda sizes: list(range(7))[: sizes["rows"]], lambda played, sizes: {"rows": 7}, {"rows": 0})
    [0, 1, 2, 3, 4, 5, 6]
    """
    while True:
        played = play(sizes)
        more = {name: size for name, size in needed(played, sizes).items() if size > sizes[name]}
        if not more:
            return played
        sizes = {**sizes, **more}
