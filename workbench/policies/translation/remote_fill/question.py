"""A peer has answered: does the asker keep a copy? (spec 4, E9)

An answer takes a `RemoteFillView`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.policies.arguments import MOST_ENTRIES, seed_of, whole
from workbench.policies.policy import Policy
from workbench.policies.translation.remote_fill.view import RemoteFillView

REMOTE_FILL = Question("remote_fill", RemoteFillView, answers="1 for a copy, 0 for none")


class ReadyRemoteFill(NamedTuple):
    """The rule as engines receive it."""

    answer: Answer
    params: np.ndarray
    memory: np.ndarray


class RemoteFill(Policy, abstract=True):
    """The base of every rule for copies after a remote hit; a new one needs an `answer`."""

    question: ClassVar[str] = "remote_fill"
    asks: ClassVar[Question] = REMOTE_FILL

    def counts(self) -> bool:
        """Return whether the rule reads what cores share, which must then be counted."""
        return False

    def most_threshold(self) -> int:
        """Return the largest threshold on entries, which must be within a private TLB; 0 = none."""
        return 0

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run: int64[memory_size], zeros unless it says
        otherwise."""
        return np.zeros(1, np.int64)

    def copies(self, shared: int = 0, degree: int = 1, held: int = 0, entries: int = 32, seed: int = 0) -> bool:
        """Return whether a copy is kept, in plain Python.

        Parameters
        ----------
        shared : int
            Entries that the asker shares with the peer that answered.
        degree : int
            Cores that hold the page.
        held, entries : int
            Entries of the asker's TLB in use, and all of them.

        Raises
        ------
        InputError
            A number is none, or lies outside of its range.

        Examples
        --------
        >>> from workbench.policies.translation.remote_fill import Threshold
        >>> Threshold(threshold=3).copies(shared=2), Threshold(threshold=3).copies(shared=3)
        (False, True)
        """
        asked = {"shared": shared, "degree": degree, "held": held, "entries": entries}
        shared, degree, held, entries = (whole(name, number, 0, MOST_ENTRIES) for name, number in asked.items())
        seed = seed_of(seed)
        pairs = np.array([0, shared, shared, 0])
        seen = (0, 1, 2, entries, held, degree, pairs)
        return bool(self.plain_answer()(RemoteFillView(*seen, self.parameters(), self.start_memory(2, seed))))

    def ready(self, cores: int, seed: int = 0, checked: bool = False) -> ReadyRemoteFill:
        """Return the policy for one run: compiled function, parameters, fresh memory."""
        return ReadyRemoteFill(
            self.ready_answer(checked),
            self.parameters(),
            self.start_memory(cores, seed),
        )
