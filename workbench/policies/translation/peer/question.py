"""Which of the cores that hold a page is asked? (spec 4, R7)

An answer takes a `PeerView`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import listed, seed_of, whole, wholes
from workbench.policies.policy import Policy
from workbench.policies.translation.bitmap_text import as_words, cores_of
from workbench.policies.translation.peer.view import PeerView

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
        """Return what the policy remembers at the start of a run: int64[memory_size], zeros unless it says
        otherwise."""
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
