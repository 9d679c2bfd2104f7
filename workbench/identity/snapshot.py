"""Digests of what some things would execute now, and whether it is still the same.

What functions of a user's keep of their own returns is given up once they would return something else.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from workbench.identity.code_digest import CodeHasher
from workbench.identity.guards import Guards

T = TypeVar("T")


class Snapshot:
    """A digest of some things, and what it was taken from."""

    def __init__(self, hasher: CodeHasher, *things: Any) -> None:
        self.digest = hasher.digest(*things)
        self.compiled: tuple[Any, ...] = tuple(hasher.compiled)
        """The user's compiled functions that were passed, each with what it was compiled from before."""
        self.functions = tuple(hasher.functions)
        """The user's functions that were passed."""
        self.caches = tuple(hasher.caches)
        """The user's functions that were passed and that keep what they returned (`functools.lru_cache`)."""
        self.installed = frozenset(hasher.installed)
        """The installed packages that something was taken from."""
        self._memos = tuple(hasher.memos)
        self.modules = hasher.modules
        """Of each of the user's modules that something was taken from, the attributes that were read from it."""
        self._guards: Guards | None = hasher.guards if hasher.guards.any() else None
        self._package, self._parts, self._whole = hasher.package, tuple(hasher.parts), hasher.lenient

    def changed(self) -> str:
        """Return the name of what is another than when the digest was taken, empty where all is as it was.

        It looks at the user's own code and values alone, in microseconds; what is equal but another object counts as
        changed, so take another digest to be sure.
        """
        return "" if self._guards is None else self._guards.changed()

    def forget(self) -> bool:
        """Empty the dictionaries of the user's that were empty, and return whether all is as it was then.

        A run begins where nothing has changed since its plan was made, so these are empty, and it leaves them empty. A
        memo (`_memo = {}` of a module) holds what one run put there, and no run depends on another one. What the user
        puts into a dictionary between two runs is a value as any other, for this is called where a plan or a run ends.
        """
        for memo in self._memos:
            memo.clear()
        return bool(self._memos) and not self.changed()

    def stands(self) -> bool:
        """Return whether a digest of the workbench's own would be taken from the same things if it were taken now.

        Of the user's it is never sure: what no guard can watch is digested again for every plan.
        """
        if not self._whole or self.changed() or self._package.changed():
            return False
        return all(_sub(thing) == digest for thing, digest in self._parts)


_moments = itertools.count(1)
_latest = 0


class _Moment(threading.local):
    """What was digested at one moment, by the address of the thing, which is kept with its digest."""

    def __init__(self) -> None:
        self.subs: dict[int, tuple[Any, str]] = {}
        self.whole: dict[Any, tuple[Any, Any]] | None = None
        self.taken: list[Snapshot] = []
        """The snapshots that were taken at this moment."""
        self.runs = False
        """Whether a run is under way."""


_moment = _Moment()
_current: dict[int, tuple[Any, int, Snapshot]] = {}
"""By the address of a thing: the thing, the moment, and its snapshot then."""


def digest_of(*things: Any) -> str:
    """Return a digest of what would be executed, or computed with, if some things were used now.

    Functions and classes count by their instructions, constants and defaults and by all that these refer to, as code
    or as values, in the state in which it is in memory. Names of files, line numbers, comments, docstrings and names of
    local variables do not count. What belongs to an installed package counts by its name and the package's version.

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
    if len(things) != 1:
        return snapshot(*things).digest
    (thing,) = things
    return once_a_moment(id(thing), lambda: snapshot(thing).digest, thing)


def snapshot(*things: Any) -> Snapshot:
    """Return the digest of some things with what it was taken from; parameters and errors as of `digest_of`."""
    taken = look(*things)
    changed = [listener(taken) for listener in _listeners]
    return look(*things) if any(changed) else taken


def look(*things: Any) -> Snapshot:
    """Return a snapshot without notice of it; parameters and errors as of `digest_of`."""
    if _moment.whole is None:
        _moment.subs = {}
    taken = Snapshot(CodeHasher(_sub, things[0] if len(things) == 1 else None), *things)
    if _moment.whole is not None:
        _moment.taken.append(taken)
    return taken


_listeners: list[Callable[[Snapshot], bool]] = []


def tell_of_snapshots(listener: Callable[[Snapshot], bool]) -> None:
    """Call a function with every snapshot that is taken, before anything that it passed is used.

    Where it returns that it changed something, another snapshot is taken.
    """
    _listeners.append(listener)


def current(thing: Any) -> Snapshot:
    """Return the snapshot of a thing as it is now, taken again only where the user's code that it passes has changed.

    Looking takes microseconds, and within `one_moment` nothing is looked at twice. Of the workbench's own code it knows
    what was seen when the latest moment began.
    """
    known = _current.get(id(thing))
    if known is not None and known[1] == _latest and (_moment.whole is not None or not known[2].changed()):
        return known[2]
    if known is not None and known[1] == _latest and _moment.runs and known[2].forget():
        return known[2]
    taken = known[2] if known is not None and _seen_anew(known[2]) else snapshot(thing)
    _current[id(thing)] = thing, _latest, taken
    return taken


def _seen_anew(taken: Snapshot) -> bool:
    """Return whether all that a snapshot of the workbench's own was taken from is the same at this moment."""
    if _moment.whole is None:
        _moment.subs = {}
    return taken.stands()


def latest_moment() -> int:
    """Return the number of the moment when all was looked at that is known of the workbench's own code."""
    return _latest


def once_a_moment(key: Any, make: Callable[[], T], kept: Any = None) -> T:
    """Return the result of a function, which within `one_moment` is called once for every key."""
    if _moment.whole is None:
        return make()
    if key not in _moment.whole:
        _moment.whole[key] = kept, make()
    result: T = _moment.whole[key][1]
    return result


@contextmanager
def one_moment() -> Iterator[None]:
    """Digest everything once within this context, in this thread: for a plan, whose points share their parts.

    What code of the user's puts into its memos while a plan is made is gone afterwards.
    """
    global _latest
    before = _moment.whole
    if before is None:
        _moment.whole, _moment.subs, _latest = {}, {}, next(_moments)
    try:
        yield
    finally:
        _moment.whole = before
        if before is None:
            taken, _moment.taken = _moment.taken, []
            for one in taken:
                one.forget()


class _Run:
    """The context of a run: while it lasts, `current` forgets what the run put into memos."""

    def __enter__(self) -> None:
        _moment.runs = True

    def __exit__(self, *_: object) -> None:
        _moment.runs = False


under_way = _Run()


_walked: dict[int, tuple[Any, Snapshot]] = {}
"""By the address of something of the workbench's own: the thing, and its snapshot by itself."""


def _sub(thing: Any) -> str:
    """Return the digest of something of the workbench's own, which is looked at once a moment."""
    known = _moment.subs.get(id(thing))
    if known is None:
        _, taken = _walked.get(id(thing), (None, None))
        if taken is None or not taken.stands():
            taken = Snapshot(CodeHasher(None), thing)
            _walked[id(thing)] = thing, taken
        known = _moment.subs[id(thing)] = thing, taken.digest
    return known[1]


_filled: WeakKeyDictionary[Any, Snapshot] = WeakKeyDictionary()
"""Of each cached function, what it was when it was last known to keep nothing older."""


def empty_caches(taken: Snapshot) -> bool:
    """Empty the caches that a snapshot passed, unless their functions are what they were when they were last looked at.

    A cache that is met for the first time is emptied: it is not known what filled it.
    """
    for cached in taken.caches:
        if not still(_filled, cached):
            cached.cache_clear()
    return False


def still(known: WeakKeyDictionary[Any, Snapshot], thing: Any) -> bool:
    """Return whether a thing is what it was when this was last asked; what it is now is noted."""
    before = known.get(thing)
    if before is not None and not before.changed():
        return True
    known[thing] = look(thing)
    return before is not None and before.digest == known[thing].digest
