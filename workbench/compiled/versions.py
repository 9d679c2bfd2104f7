"""The compiled forms of one answer: one for every state of what it refers to.

Numba takes the globals, closure cells and helpers of a function as they are when it compiles it. So an answer is asked
for its digest whenever a run begins, and compiled anew when that is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from workbench.errors import PolicyError
from workbench.identity import Snapshot, digest_of, latest_moment, snapshot

Compiled = tuple[int, Any]
"""An address, and what keeps the code there alive."""


class Versions:
    """The compiled forms of an answer, by their digests."""

    def __init__(self, answer: Callable[..., int], compiled: Callable[[str], Compiled]) -> None:
        self._answer = answer
        self._compiled = compiled
        self._known: dict[str, Compiled] = {}
        self._last: Snapshot | None = None
        self._moment = 0

    def now(self) -> int:
        """Return the address of the answer as it is now, compiled if it never was so.

        Raises
        ------
        PolicyError
            It does not compile, or something that it refers to changes meanwhile.
        """
        if self._last is None or self._moment != latest_moment() or self._last.changed():
            self._last, self._moment = self._taken(), latest_moment()
        return self._known[self._last.digest][0]

    def _taken(self) -> Snapshot:
        taken = snapshot(self._answer)
        if taken.digest not in self._known:
            forget(taken.compiled)
            found = self._compiled(taken.digest)
            if changed := taken.changed():
                raise PolicyError(f"{self._answer.__qualname__}: {changed} changed while it was compiled.")
            trust(taken.compiled)
            self._known[taken.digest] = found
        return taken


_trusted: WeakKeyDictionary[Any, tuple[str, frozenset[Any]]] = WeakKeyDictionary()
"""Of a user's compiled helper, what it was digested as when all of its compiled forms were made, and which these are."""


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
