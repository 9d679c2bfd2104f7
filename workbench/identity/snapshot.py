"""Digests of what some things would execute now, and whether it is still the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.identity.guards import Guards
from workbench.identity.walk import Walk


class Snapshot:
    """A digest of some things, and what it was taken from."""

    def __init__(self, digest: str, guards: Guards) -> None:
        self.digest = digest
        self._guards = guards

    def changed(self) -> str:
        """Return the name of what is another than when the digest was taken, empty where all is as it was.

        It looks at the user's own code and values alone, in microseconds; what is equal but another object counts as
        changed, so take another digest to be sure.
        """
        return self._guards.changed()


class _Moment(threading.local):
    """What was digested at one moment, by the address of the thing, which is kept with its digest."""

    def __init__(self) -> None:
        self.subs: dict[int, tuple[Any, str]] = {}
        self.whole: dict[int, tuple[Any, str]] | None = None


_moment = _Moment()


def digest_of(*things: Any) -> str:
    """Return a digest of what would be executed, or computed with, if some things were used now.

    Functions and classes count by their instructions, constants and defaults and by all that these refer to, as code or
    as values, in the state in which it is in memory. Names of files, line numbers, comments, docstrings and names of local
    variables do not count. What belongs to an installed package counts by its name and the package's version.

    Parameters
    ----------
    things : objects
        Classes, functions, or values.

    Returns
    -------
    str
        32 hexadecimal digits of BLAKE2b. It may differ between minor versions of Python (`PYTHON`).

    Raises
    ------
    InputError
        Something that is referred to has no digest: an open file, a lock, a random generator. The sentence names it.

    Examples
    --------
    >>> aim = 0
    >>> def answer(free):
    ...     return free + aim
    >>> before = digest_of(answer)
    >>> digest_of(answer) == before
    True
    """
    if _moment.whole is None or len(things) != 1:
        return snapshot(*things).digest
    (thing,) = things
    if id(thing) not in _moment.whole:
        _moment.whole[id(thing)] = thing, snapshot(thing).digest
    return _moment.whole[id(thing)][1]


def snapshot(*things: Any) -> Snapshot:
    """Return the digest of some things with what it was taken from; parameters and errors as of `digest_of`."""
    if _moment.whole is None:
        _moment.subs = {}
    walk = Walk(_sub, things[0] if len(things) == 1 else None)
    return Snapshot(walk.digest(*things), walk.guards)


def settled_digest(thing: Any) -> str:
    """Return the digest of a part of the workbench as it was when a digest of the user's was last taken."""
    return _sub(thing)


@contextmanager
def one_moment() -> Iterator[None]:
    """Within this, in this thread, everything is digested once: for a plan, whose points share their parts."""
    before = _moment.whole
    if before is None:
        _moment.whole, _moment.subs = {}, {}
    try:
        yield
    finally:
        _moment.whole = before


def _sub(thing: Any) -> str:
    """Return the digest of something of the workbench's own, taken once a moment."""
    known = _moment.subs.get(id(thing))
    if known is None:
        known = _moment.subs[id(thing)] = thing, Walk(None).digest(thing)
    return known[1]
