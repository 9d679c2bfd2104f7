"""Which of the cores that hold a page is asked? (spec 4, R7)

An answer takes a `PeerView`.

What every choice owes, in a test file, for policies of this package or not:

    class TestMyPeer(PeerContract):
        policy = MyPeer()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, number, readable, view
from workbench.errors import wrong_value
from workbench.policies.arguments import listed, seed_of, whole, wholes
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes
from workbench.policies.translation.cores import OfCores, as_words, cores_of, two_of
from workbench.streams import Streams
from workbench.structures.bitmaps import NOBODY, count_cores, next_core
from workbench.structures.rng import below


@view
class PeerView(NamedTuple):
    """A miss, and the cores that hold its page."""

    core: int = number("who asks")
    cores: int = number("how many cores there are")
    others: np.ndarray = readable(
        "uint64",
        "words",
        "the holders that may be asked: core c is bit c % 64 of word c // 64 (see `core_bits`); at "
        "least one, never the asker, never one that has already answered in the negative",
    )
    hops: np.ndarray = readable("int64", "cores * cores", "routers between two cores: `hops[core * cores + peer]`")
    load: np.ndarray = readable("int64", "cores", "requests that each core has been sent so far")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


PEER = Question(
    "peer",
    PeerView,
    answers="the core to ask",
    wrong="answered {answer}, which is none of the holders that may be asked",
)


class ReadyPeer(NamedTuple):
    """A choice of a peer as engines receive it."""

    answer: Answer
    params: np.ndarray
    memory: np.ndarray


class Peer(Policy, abstract=True):
    """The base of every choice of a peer; a new one needs an `answer`."""

    question: ClassVar[str] = "peer"
    asks: ClassVar[Question] = PEER

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def ask(
        self, holders: str, core: int = 0, hops: Sequence[int] = (), load: Sequence[int] = (), seed: int = 0
    ) -> int | None:
        """Choose the core that is asked, in plain Python; None when no other core holds the page (spec 4, R9).

        Parameters
        ----------
        holders : str
            The record's bitmap, core 0 on the left.
        core : int
            Who asks.
        hops, load : sequence of int
            From the asker to each core, and what each has been sent so far; zeros if not given.

        Raises
        ------
        InputError
            The bitmap cannot be read, or the asker is none of its cores.

        Examples
        --------
        >>> from workbench.policies.translation.peer import FirstBit
        >>> FirstBit().ask("0110"), FirstBit().ask("1000")
        (1, None)
        """
        cores_of(holders)
        cores, core, seed = len(holders), whole("core", core, None), seed_of(seed)
        if not 0 <= core < max(cores, 1):
            raise wrong_value("", "core", f"must be from 0 to {cores - 1}", core)
        others = "".join("0" if k == core else bit for k, bit in enumerate(holders))
        if not cores_of(others):
            return None
        table = np.zeros((cores, cores), np.int64)
        table[core] = _of_cores("hops", hops, cores)
        sent = np.array(_of_cores("load", load, cores), np.int64)
        seen = (core, cores, as_words(others), table.reshape(-1), sent)
        return int(self.plain_answer()(PeerView(*seen, self.parameters(), self.start_memory(cores, seed))))

    def ready(self, cores: int, seed: int = 0, checked: bool = False) -> ReadyPeer:
        """Return the policy for one run: compiled function, parameters, fresh memory."""
        return ReadyPeer(self.ready_answer(checked), self.parameters(), self.start_memory(cores, seed))


def _of_cores(name: str, given: Any, cores: int) -> list[int]:
    """Return a number a core; zeros where nothing is given."""
    return wholes(name, given, count=cores) if len(listed(name, given)) else [0] * cores


class FirstBit(Peer):
    """Ask the holder with the lowest number, the first set bit of the record; there are no ties.

    References
    ----------
    spec 4, R7; source document paragraph 78.

    Examples
    --------
    >>> FirstBit().ask("0110")
    1
    """

    @staticmethod
    def answer(see: PeerView) -> int:
        return next_core(see.others, 0, see.others.size, 0)


class Nearest(Peer):
    """Ask the holder that is fewest hops away; the lowest number wins a tie.

    References
    ----------
    spec 4, R7, V2.

    Examples
    --------
    >>> Nearest().ask("0110", hops=(0, 3, 1, 2))
    2
    """

    @staticmethod
    def answer(see: PeerView) -> int:
        best = peer = next_core(see.others, 0, see.others.size, 0)
        while peer != NOBODY:
            if see.hops[see.core * see.cores + peer] < see.hops[see.core * see.cores + best]:
                best = peer
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return best


class LeastLoaded(Peer):
    """Ask the holder that has been sent the fewest requests so far; the lowest number wins a tie.

    References
    ----------
    spec 4, R7.

    Examples
    --------
    >>> LeastLoaded().ask("0111", load=(0, 5, 2, 2))
    2
    """

    @staticmethod
    def answer(see: PeerView) -> int:
        best = peer = next_core(see.others, 0, see.others.size, 0)
        while peer != NOBODY:
            if see.load[peer] < see.load[best]:
                best = peer
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return best


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class Random(Peer):
    """Ask a holder at random, each equally likely; there are no ties.

    References
    ----------
    spec 4, R7.

    Examples
    --------
    >>> Random().ask("0110", seed=3) in (1, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: PeerView) -> int:
        peer = next_core(see.others, 0, see.others.size, 0)
        for _ in range(below(see.memory, GENERATOR, count_cores(see.others, 0, see.others.size))):
            peer = next_core(see.others, 0, see.others.size, peer + 1)
        return peer

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random"), 1)])


class PeerContract(OfCores):
    """Tests that every choice of a peer passes; a subclass names the policy."""

    policy: ClassVar[Peer]

    def scenes(self, policy: Peer, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about misses whose page some other cores hold."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            holders = int(draw.integers(1, 1 << size)) & ~(1 << core) or 1 << peer
            hops, load = draw.integers(0, 5, size * size), draw.integers(0, 9, size)
            yield PeerView(core, size, np.array([holders], np.uint64), hops, load, *KEPT)

    def judge(self, request: Request) -> str:
        """Return a fault where the core that is asked does not hold the page."""
        core, see = request.answer, request.see
        holds = 0 <= core < see.cores and int(see.others[0]) >> core & 1
        return "" if holds else f"asks core {core}, which does not hold the page, for {see}"
