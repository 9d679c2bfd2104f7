"""The columns of an engine's state: each array is declared once at its field, by its type, its axes and its fill.

A log is a column that grows with the run: kernels allocate nothing, and how much space it needs is known at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike

State = TypeVar("State")


def column(dtype: DTypeLike, *axes: str | int, fill: int | float | bool = 0) -> Any:
    """Declare an array at its field of a state.

    Parameters
    ----------
    dtype : dtype
        Of its elements.
    *axes : str or int
        The length of each axis: a number, the name of a size, or a product of both as in `"cores * words"`.
    fill : int, float or bool
        What every element is at the start.

    Returns
    -------
    Column
        The declaration, which stands as the field's default until `made` replaces it.

    Examples
    --------
    >>> class Directory(NamedTuple):
    ...     holder: np.ndarray = column(np.int64, "cores", fill=-1)
    >>> made(Directory, {"cores": 3}).holder
    array([-1, -1, -1])
    """
    return Column(np.dtype(dtype), tuple(_factors(axis) for axis in axes), fill)


def log(name: str, width: int, kept: str = "events") -> Any:
    """Declare a log at its field of a state: int64[rows, width], as many rows as the counter of its name has counted.

    Parameters
    ----------
    name : str
        Of its counter, and of its size.
    width : int
        Whole numbers in a row.
    kept : {"events", "always"}
        Whether it is kept where only the event log needs it, or in every run.
    """
    return column(np.int64, name, width)._replace(log=kept)


def _factors(axis: str | int) -> tuple[int, tuple[str, ...]]:
    """Return the number and the sizes whose product an axis names."""
    parts = str(axis).split(" * ")
    names = tuple(part for part in parts if not part.isdecimal())
    return math.prod(int(part) for part in parts if part.isdecimal()), names


class Column(NamedTuple):
    """An array that is made at the start of a run."""

    dtype: np.dtype[Any]
    axes: tuple[tuple[int, tuple[str, ...]], ...]
    """Of each a number, and the sizes that it is multiplied by."""
    fill: int | float | bool
    log: str = ""
    """`events` or `always`: of a log, when it is kept; empty for what is no log."""

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of its axes with these sizes."""
        return tuple(math.prod([sizes[name] for name in names], start=times) for times, names in self.axes)


@cache
def logs_of(state: type) -> dict[str, bool]:
    """Return the logs of a state by the names of their counters, each with whether it is always kept.

    Examples
    --------
    >>> class State(NamedTuple):
    ...     counters: np.ndarray = column(np.int64, 5)
    ...     moves: np.ndarray = log("moves", 5, kept="always")
    >>> logs_of(State)
    {'moves': True}
    """
    return {one.axes[0][1][0]: one.log == "always" for one in _declared(state).values() if one.log}


def made(state: type[State], sizes: Mapping[str, int], **given: Any) -> State:
    """Return a state whose columns have these sizes and whose other fields are given.

    Parameters
    ----------
    state : class
        A named tuple; the default of each array's field is its `column`.
    sizes : mapping of str to int
        The sizes that the columns name.
    **given
        The fields that are no columns, and columns that start with other contents.

    Raises
    ------
    TypeError
        A field is neither given nor a column, or what is given is no field.
    KeyError
        A column names a size that is not there.

    Examples
    --------
    >>> class Queue(NamedTuple):
    ...     head: np.ndarray = column(np.int64, "channels", fill=-1)
    ...     order: np.ndarray = column(np.int32, "channels", "room")
    >>> made(Queue, {"channels": 2, "room": 0}, order=np.zeros((2, 1), np.int32))
    Queue(head=array([-1, -1]), order=array([[0],
           [0]], dtype=int32))
    """
    hashable: Any = state
    columns = _columns(hashable, tuple(sizes.items()), tuple(given))
    if columns is None:
        return state(**given)  # which names what is missing, or is no field
    zeros, filled, order = columns
    values = [*map(np.zeros, *zeros), *map(np.ndarray.copy, filled), *given.values()]
    return state(*map(values.__getitem__, order))


def sizes_of(state: type) -> set[str]:
    """Return the names of the sizes that the columns of a state name.

    Examples
    --------
    >>> class Queue(NamedTuple):
    ...     order: np.ndarray = column(np.int32, "channels", "2 * room")
    >>> sorted(sizes_of(Queue))
    ['channels', 'room']
    """
    return {name for one in _declared(state).values() for _, names in one.axes for name in names}


@lru_cache(maxsize=256)
def _columns(
    state: type, sizes: tuple[tuple[str, int], ...], given: tuple[str, ...]
) -> tuple[tuple[list[Any], list[Any]], list[np.ndarray], list[int]] | None:
    """Return the shapes and the types of the columns that begin with zeros, and the others as views of one number.

    Then come the places of the fields among these columns and what is given, in this order. Runs of one setup have the
    same. None where the fields and what is given do not go together.
    """
    known, columns = dict(sizes), {name: one for name, one in _declared(state).items() if name not in given}
    fields: tuple[str, ...] = getattr(state, "_fields", ())
    if set(fields) != {*columns, *given}:
        return None
    # Zeros apart: `np.zeros` need not write to memory that the system has cleared.
    zeros = {name: one for name, one in columns.items() if not one.fill}
    others = {name: one for name, one in columns.items() if one.fill}
    shapes, types = [one.shape(known) for one in zeros.values()], [one.dtype for one in zeros.values()]
    filled = [np.broadcast_to(np.array(one.fill, one.dtype), one.shape(known)) for one in others.values()]
    place = {name: number for number, name in enumerate((*zeros, *others, *given))}
    return (shapes, types), filled, [place[name] for name in fields]


def _declared(state: type) -> dict[str, Column]:
    """Return the columns of a state by name."""
    declared: dict[str, Any] = getattr(state, "_field_defaults", {})
    return {name: one for name, one in declared.items() if isinstance(one, Column)}


def padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows one below the other, each filled up with zeros: at least one column.

    Examples
    --------
    >>> padded([np.array([1.0, 2.0]), np.array([3.0])]).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    >>> padded([np.zeros(0)]).tolist()
    [[0.0]]
    """
    table = np.zeros((len(rows), max([row.size for row in rows], default=0) or 1), rows[0].dtype if rows else np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: row.size] = row
    return table
