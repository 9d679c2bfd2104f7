"""Cards that a lever names by their ids: from the text of the lever to places on a board."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError, unknown_name


def check_named(policy: str, text: str) -> None:
    """Refuse a text that names no card, or one twice.

    >>> check_named("bind", "gpu0 gpu0")
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards must name different cards with a space between them. Got 'gpu0 gpu0'.
    >>> check_named("bind", "gpu0,gpu1")
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards must name different cards with a space between them. Got 'gpu0,gpu1'.
    """
    ids = text.split(" ")
    if "" in ids or "," in text or len(set(ids)) != len(ids):
        raise InputError(f"{policy}.cards must name different cards with a space between them. Got {text!r}.")


def marked(policy: str, text: str, ids: Sequence[str]) -> np.ndarray:
    """Return which cards a text names: float64[cards], 1 = it does.

    Raises
    ------
    InputError
        It names one that is not among the ids.

    Examples
    --------
    >>> marked("bind", "gpu1 cpu0", ("cpu0", "gpu0", "gpu1"))
    array([1., 0., 1.])
    >>> marked("bind", "gpu7", ("gpu0", "gpu1"))
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards: unknown card 'gpu7'; there are gpu0, gpu1. Did you mean gpu1?
    """
    named = np.zeros(len(ids))
    for name in text.split(" "):
        if name not in ids:
            raise unknown_name(f"{policy}.cards", "card", name, ids)
        named[list(ids).index(name)] = 1.0
    return named
