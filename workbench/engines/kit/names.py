"""Counters and faults by name: a number each, written once."""

from __future__ import annotations

from typing import Any, TypeVar, cast

Names = TypeVar("Names")


def numbered(names: type[Names], after: tuple[int, ...] = ()) -> Names:
    """Return the place of each name of a named tuple: 0, 1, 2 ... in the order of its fields.

    Compiled code takes `NAMES.served` of a module's constant as the number itself.

    Parameters
    ----------
    names : class
        A named tuple with an `int` field for each name, described below it.
    after : tuple
        Numbered names that come before: an engine's counters come after `STOP`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Counters(NamedTuple):
    ...     status: int
    ...     served: int
    >>> numbered(Counters)
    Counters(status=0, served=1)
    """
    fields = cast(Any, names)._fields
    return names(*range(len(after), len(after) + len(fields)))
