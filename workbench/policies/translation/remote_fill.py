"""A peer has answered: does the asker keep a copy? (spec 4, E9)

An answer takes a `RemoteFillView`.

What every rule owes, in a test file, for policies of this package or not:

    class TestMyRemoteFill(RemoteFillContract):
        policy = MyRemoteFill()
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, number, readable, view
from workbench.levers import lever
from workbench.policies.arguments import MOST_ENTRIES, seed_of, whole
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes
from workbench.policies.translation.cores import OfCores, drawn_pairs, two_of


@view
class RemoteFillView(NamedTuple):
    """A peer has answered."""

    core: int = number("who asked")
    peer: int = number("who answered")
    cores: int = number("how many cores there are")
    entries: int = number("entries of a private TLB")
    held: int = number("entries of the asker's private TLB that are in use")
    degree: int = number("how many cores hold the page, as the asker's directory says; 1 where there is none")
    pairs: np.ndarray = readable(
        "int64", "cores * cores", "as for the fill from the shared TLB: `pairs[core * cores + peer]`"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


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
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
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
        numbers = {"shared": shared, "degree": degree, "held": held, "entries": entries}
        shared, degree, held, entries = (whole(name, number, 0, MOST_ENTRIES) for name, number in numbers.items())
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


class Always(RemoteFill):
    """Keep a copy of whatever a peer answers; nothing is compared, so there are no ties.

    References
    ----------
    spec 4, E9: the default.

    Examples
    --------
    >>> Always().copies()
    True
    """

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 1


class Never(RemoteFill):
    """Keep no copy: the peer is asked again next time; nothing is compared, so there are no ties.

    References
    ----------
    spec 4, E9: avoids duplicates.

    Examples
    --------
    >>> Never().copies()
    False
    """

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 0


class Threshold(RemoteFill):
    """Keep a copy if the asker shares so many entries, or more, with the peer that answered; equal is enough.

    References
    ----------
    spec 4, section 2, `remote_fill`: the fill threshold applied to the answering peer.

    Examples
    --------
    >>> Threshold(threshold=3).copies(shared=2), Threshold(threshold=3).copies(shared=3)
    (False, True)
    """

    threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which a copy is kept"
    )

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 1 if see.pairs[see.core * see.cores + see.peer] >= see.levers.threshold else 0

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.threshold


ENTRIES = 16


class RemoteFillContract(OfCores):
    """Tests that every rule for copies after a remote hit passes; a subclass names the policy."""

    policy: ClassVar[RemoteFill]

    def scenes(self, policy: RemoteFill, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about answers of peers."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            held, degree = int(draw.integers(ENTRIES + 1)), int(draw.integers(1, 9))
            yield RemoteFillView(core, peer, size, ENTRIES, held, degree, drawn_pairs(draw, size), *KEPT)

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is neither yes nor no."""
        return (
            ""
            if request.answer in (0, 1)
            else f"answered {request.answer}, which is neither 0 nor 1, for {request.see}"
        )
