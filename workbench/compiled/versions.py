"""The compiled forms of answers: one for every state of what it refers to.

Numba takes the globals, closure cells and helpers of a function as they are when it compiles it. So an answer is asked
for its digest whenever a run begins, and compiled anew when that is another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.registry import cpu_target

from workbench.errors import PolicyError
from workbench.identity import Snapshot, current, digest_of

Compiled = tuple[int, Any]
"""An address, and what keeps the code there alive."""


class Versions:
    """The compiled forms of all answers to a question, by their digests."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Hashable], Compiled] = {}

    def now(self, answer: Callable[..., int], way: Hashable, compiled: Callable[[str], Compiled]) -> int:
        """Return the address of an answer as it is now, compiled if it never was so.

        Parameters
        ----------
        way : hashable
            Which of several ways to compile is meant.
        compiled : function
            Compiles the answer, told its digest.

        Raises
        ------
        PolicyError
            It does not compile, or something that it refers to changes meanwhile.
        """
        taken = current(answer)
        key = taken.digest, way
        if key not in self._known:
            forget(_helpers(taken))
            found = compiled(taken.digest)
            if changed := taken.changed():
                raise PolicyError(f"{answer.__qualname__}: {changed} changed while it was compiled.")
            trust(_helpers(taken))
            self._known[key] = found
        return self._known[key][0]


_trusted: WeakKeyDictionary[Any, tuple[str, frozenset[Any]]] = WeakKeyDictionary()
"""Of a user's compiled helper, its digest when all of its compiled forms were made, and which these are."""


def _helpers(taken: Snapshot) -> Iterator[Any]:
    """Yield the compiled functions that a snapshot passed, and those that Numba has made of functions that it passed.

    `register_jitable` and `overload` make some behind the scenes.
    """
    yield from taken.compiled
    for function in taken.functions:
        known = cpu_target.typing_context._lookup_global(function)
        for template in getattr(known, "templates", ()):
            yield from (made for made, _ in getattr(template, "_impl_cache", {}).values() if made is not None)


def forget(helpers: Iterable[Any]) -> None:
    """Let a user's compiled helpers be compiled anew, unless they were compiled from what they are now.

    Those with fixed signatures are compiled at once, after all are forgotten, since they may call one another.
    """
    stale = [helper for helper in helpers if hasattr(helper, "_reset_overloads") and not _is_trusted(helper)]
    before = [(helper, list(helper.overloads), helper._can_compile) for helper in stale]
    for helper in stale:
        helper._make_finalizer()()
        helper._reset_overloads()
        helper._cache.flush()
        helper._can_compile = True
    for helper, signatures, open_ended in before:
        if not open_ended:
            for signature in signatures:
                helper.compile(signature)
            helper._can_compile = False


def trust(helpers: Iterable[Any]) -> None:
    """Remember that helpers are compiled from what they are now."""
    for helper in helpers:
        if hasattr(helper, "_reset_overloads"):
            _trusted[helper] = digest_of(helper), frozenset(helper.overloads)


def _is_trusted(helper: Any) -> bool:
    digest, signatures = _trusted.get(helper, ("", frozenset()))
    return signatures == frozenset(helper.overloads) and digest == digest_of(helper)


def name_by_digest(helpers: Iterable[Any]) -> None:
    """Let a user's compiled helpers travel under the names of their digests.

    Numba lets a process that has met a helper before take the former one in its place, by a name that stays the same
    whatever becomes of the globals that the helper reads.
    """
    for helper in helpers:
        if hasattr(helper, "_set_uuid"):
            helper._MemoMixin__uuid = None
            helper._set_uuid(digest_of(helper))
