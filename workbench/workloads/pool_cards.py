"""On which cards of a board do applications run, and what may they ask for?"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError, at


def gpus_of(machine: Any) -> np.ndarray:
    """Return the places of the GPUs among the cards of a board, or of a node's, in their order: int64[gpus]; those of
    all cards where none is one.

    >>> from workbench.machine import Board
    >>> gpus_of(Board())
    array([1, 2])
    """
    kinds = [card.kind for card in getattr(machine, "board", machine).cards]
    places = [place for place, kind in enumerate(kinds) if kind == "gpu"]
    return np.array(places or [place for place, kind in enumerate(kinds) if kind != "switch"], np.int64)


def largest_memory(machine: Any) -> int:
    """Return the bytes of the card that has the most memory."""
    return max(int(card.memory_bytes) for card in machine.cards)


def check_size(size: int, machine: Any, what: str, where: str = "") -> None:
    """Refuse a request that no card could serve even when all are empty.

    Parameters
    ----------
    what : str
        Who asks, as the sentence begins.

    Raises
    ------
    InputError
        It is larger than every card.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> check_size(1 << 40, Board(), "jobs.csv: row 3 (line 4): bytes")
    Traceback (most recent call last):
    workbench.errors.InputError: jobs.csv: row 3 (line 4): bytes must be at most 68719476736, which the largest card \
has. Got 1099511627776.
    """
    most = largest_memory(machine)
    if size > most:
        raise InputError(at(where, f"{what} must be at most {most}, which the largest card has. Got {size}."))
