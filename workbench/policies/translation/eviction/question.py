"""Which entry of a full set goes? (spec 4, R22)

An answer takes an `EvictionView` and proposes candidates one by one. Alone, only the first choice is asked for;
`SharingAwareEviction` asks for more. Candidates must differ until there are no more. A policy that must know what is
used also defines `touched(see)`, which takes a `TouchView` at every hit and every insertion. One that must know which
page comes in, say because it remembers pages that are gone, defines `incoming(see)`: it takes an `IncomingView` before
an entry is asked for. The insertion follows in the same step, into the victim's place if one was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question, kernel
from workbench.errors import unknown_name, wrong_value
from workbench.policies.arguments import listed, seed_of
from workbench.policies.policy import Policy
from workbench.policies.translation.eviction.view import EvictionView, IncomingView, TouchView
from workbench.structures.bitmaps import count_cores
from workbench.structures.set_assoc import PAGE, ROW

EVICT = Question(
    "eviction",
    EvictionView,
    answers="the entry that is proposed",
    wrong="answered an entry that is not in the set that is full",
)
TOUCHED = Question("eviction notice", TouchView, returns="nothing")
INCOMING = Question("eviction incoming", IncomingView, returns="nothing")

PLAIN_BASE, NEXT_BATCH, LOWEST_DEGREE, LOOP = range(4)
"""What is evicted when every candidate is protected."""
UNPROTECTED, HIGH, LOW = range(3)
"""Which degrees protect a candidate: none, those at or above the threshold, those below it."""


class ReadyEviction(NamedTuple):
    """An eviction policy as engines receive it."""

    answer: Answer
    touched: Answer
    incoming: Answer
    params: np.ndarray
    memory: np.ndarray
    protects: int
    candidates: int
    share_threshold: int
    fallback: int


@kernel
def degree(entries: np.ndarray, holders: np.ndarray, spread: int, base: int, words: int, entry: int) -> int:
    """Return the number of cores that hold the page of an entry, the local one included; 1 where there is no
    directory."""
    if words == 0:
        return 1
    return count_cores(holders, entries[entry * ROW + PAGE] * spread + base, words)


class Eviction(Policy, abstract=True):
    """The base of every eviction policy; a new one needs an `answer`."""

    question: ClassVar[str] = "eviction"
    asks: ClassVar[Question] = EVICT
    tells = {"touched": TOUCHED, "incoming": INCOMING}
    touched: ClassVar[Callable[..., Any] | None] = None
    incoming: ClassVar[Callable[..., Any] | None] = None

    def base_policy(self) -> Eviction:
        """Return the policy that proposes candidates: itself, unless it wraps another."""
        return self

    def speakers(self) -> Sequence[Eviction]:
        """Return the policy whose functions answer: the one that proposes candidates."""
        return (self.base_policy(),)

    def protection(self) -> tuple[int, int, int, int]:
        """Return the degrees that protect, the number of candidates that are examined, the threshold, and the rule if
        all are protected."""
        return UNPROTECTED, 1, 0, PLAIN_BASE

    def most_threshold(self) -> int:
        """Return the largest threshold on the sharing degree, which no machine with fewer cores can reach; 0 = none."""
        return 0

    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def order(self, inserted: Sequence[Any], touched: Sequence[Any] = (), seed: int = 0) -> list[Any]:
        """Return the entries of one full set in the order in which this policy proposes them, in plain Python.

        Parameters
        ----------
        inserted : sequence
            What came into the set, in this order, each once.
        touched : sequence
            What was used then, in this order.
        seed : int
            The seed of a policy that draws.

        Raises
        ------
        InputError
            There is no entry, one is named twice, or one is used that never came in.

        Examples
        --------
        >>> from workbench.policies.translation.eviction import LRU
        >>> LRU().order(inserted="abcd", touched="a")
        ['b', 'c', 'd', 'a']
        """
        # Imported here: a run's id digests what is global, and a set by hand decides no run.
        from workbench.policies.translation.eviction.plain_set import PlainSet

        names, used = _entries("inserted", inserted), _entries("touched", touched)
        if not names or any(names.count(name) > 1 for name in names):
            raise wrong_value("", "inserted", "must name at least one entry, each once", inserted)
        for name in used:
            if name not in names:
                raise unknown_name("touched", "entry", name, map(str, names))
        one = PlainSet(self.base_policy(), len(names), seed_of(seed))
        for place in (*range(len(names)), *(names.index(name) for name in used)):
            one.use(place)
        return [names[page] for page in one.proposed()]

    def ready(self, sets: int, ways: int, seed: int = 0, checked: bool = False) -> ReadyEviction:
        """Return the policy for one run: compiled functions, parameters, fresh memory."""
        base = self.base_policy()
        return ReadyEviction(
            base.ready_answer(checked),
            base.ready_notice("touched", checked),
            base.ready_notice("incoming", checked),
            base.parameters(),
            base.start_memory(sets, ways, seed),
            *self.protection(),
        )


def _entries(what: str, given: Any) -> list[Any]:
    """Return the names of entries: a text names one with each letter."""
    names = list(given) if isinstance(given, str) else listed(what, given, "must be a list of entries")
    if not all(isinstance(name, Hashable) for name in names):
        raise wrong_value("", what, "must be a list of entries, each a name", given)
    return names
