"""What is computed from specs of the package is computed once in a process, however many runs need it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple, cast

from workbench.levers.spec import Spec

KEPT = 64
"""Results of one function at most; the oldest goes first."""

_Args = TypeVarTuple("_Args")
_R = TypeVar("_R")
_NOTHING: Any = object()


class _Kept(dict[tuple[Any, ...], Any]):
    """What a function returned, by its arguments."""

    def __identity__(self) -> tuple[()]:
        """Return nothing: it is no part of what a run's id stands for."""
        return ()


def remembered(function: Callable[[*_Args], _R]) -> Callable[[*_Args], _R]:
    """Let a function return the earlier result for equal arguments. It must not draw, and no caller may write to the
    result.

    If an argument is a user's spec, or holds one, the function is called each time: its code may have changed since.

    Parameters
    ----------
    function : function
        Of hashable positional arguments; specs within a tuple are looked at too.

    Examples
    --------
    >>> @remembered
    ... def squares(count):
    ...     print("computes")
    ...     return [number**2 for number in range(count)]
    >>> squares(3)
    computes
    [0, 1, 4]
    >>> squares(3)
    [0, 1, 4]
    """
    kept = _Kept()

    @wraps(function)
    def returned(*args: *_Args) -> _R:
        known = kept.get(args, _NOTHING)
        if known is not _NOTHING:
            return cast(_R, known)
        result = function(*args)
        if all(map(of_the_package, args)):
            kept[args] = result
            if len(kept) > KEPT:
                kept.pop(next(iter(kept)), None)
        return result

    return returned


def of_the_package(argument: object) -> bool:
    """Return whether an argument neither is a user's spec nor holds one."""
    if isinstance(argument, tuple):
        return all(map(of_the_package, argument))
    return not isinstance(argument, Spec) or argument.is_of_the_package
