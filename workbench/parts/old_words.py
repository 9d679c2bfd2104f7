"""Words of 0.4 that have another name now: taken and read for one release, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any


def take_old_words(part: Any, renamed: Mapping[str, str], name: str, level: int = 3) -> None:
    """Give a part of the user's today's words for what it defines under old ones; one warning names these.

    Parameters
    ----------
    part : object
        What stands at its classes counts too.
    renamed : mapping of str to str
        Each word of 0.4 with the one of today.
    name : str
        What the warning calls the part.
    level : int
        How many calls above this one the user's line stands, as `warnings.warn` counts.

    Examples
    --------
    >>> class Coin:
    ...     __module__, wants = "my_engines", "workgroups"
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     take_old_words(Coin(), {"wants": "workload_kind"}, "the engine coin")
    >>> str(caught[0].message)
    'the engine coin: write workload_kind for wants; words of 0.4 are taken until the next release.'
    >>> Coin.workload_kind
    'workgroups'
    """
    holders = [holder for holder in (part, *type(part).__mro__) if not _of_package(holder)]
    if old := [word for holder in holders for word in _give(holder, renamed)]:
        new = ", ".join(renamed[word] for word in old)
        message = f"{name}: write {new} for {', '.join(old)}; words of 0.4 are taken until the next release."
        warnings.warn(message, DeprecationWarning, stacklevel=level)


def keep_old_words(part: Any, renamed: Mapping[str, str]) -> None:
    """Give a part the old words for what its own class defines under today's alone, for code that still reads them."""
    _give(type(part), {new: old for old, new in renamed.items()})


def _of_package(holder: Any) -> bool:
    cls = holder if isinstance(holder, type) else type(holder)
    return cls.__module__.startswith("workbench.") or cls is object


def _give(holder: Any, names: Mapping[str, str]) -> list[str]:
    """Give what stands under some names alone its other names too; return the names that it stood under."""
    own = dict(getattr(holder, "__dict__", {}))
    alone = [name for name, other in names.items() if name in own and other not in own]
    for name in alone:
        setattr(holder, names[name], own[name])
    return alone


def old_word(old: str, new: str) -> Any:
    """Return a property for the body of a class that reads an attribute by its word of 0.4, with a warning."""
    return property(lambda part: read_by_old_word(part, old, new))


def read_by_old_word(part: Any, old: str, new: str) -> Any:
    """Return an attribute of a part for a property that is called by its word of 0.4, with a warning."""
    warnings.warn(f"{type(part).__name__}.{old} is now called {new}.", DeprecationWarning, stacklevel=3)
    return getattr(part, new)
