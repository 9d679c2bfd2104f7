"""A translation comes from the shared TLB or the page table: who gets a copy? (spec 4, R14-R20)

An answer takes a `FillView`. The requester is filled too, unless nobody is. A core that holds the page already gets
nothing (spec 4, R21). A policy that must know what became of its copies also defines `told(see)`, which takes a
`FillNotice` when a copy is used for the first time, or leaves to make room without having been used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_CORES, MOST_ENTRIES, listed, seed_of, whole
from workbench.policies.policy import Policy
from workbench.policies.translation.bitmap_text import cores_of
from workbench.policies.translation.fill.view import FillNotice, FillView

REFUSED = -1
"""The answer that says: nobody is filled."""

FILL = Question(
    "fill",
    FillView,
    answers="how many cores it wrote to `push`; or -1: nobody is filled",
    wrong="answered {answer}, which is no number of cores, or no other core; -1 fills nobody",
)
TOLD = Question("fill notice", FillNotice, returns="nothing")


class ReadyFill(NamedTuple):
    """A fill rule as engines receive it."""

    answer: Answer
    told: Answer
    params: np.ndarray
    memory: np.ndarray


class Decision(NamedTuple):
    """Who gets a copy."""

    fills: bool
    """Whether the requester does."""
    pushes: tuple[int, ...]
    """The other cores that do."""


class Fill(Policy, abstract=True):
    """The base of every fill rule; a new one needs an `answer`."""

    question: ClassVar[str] = "fill"
    asks: ClassVar[Question] = FILL
    tells = {"told": TOLD}
    told: ClassVar[Callable[..., Any] | None] = None

    def counts(self) -> bool:
        """Return whether the rule reads what the requester shares with other cores, which must then be counted."""
        return False

    def most_threshold(self) -> int:
        """Return the largest threshold on entries, which must be within a private TLB; 0 = none."""
        return 0

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run: int64[memory_size], zeros unless it says
        otherwise."""
        return np.zeros(1, np.int64)

    def decide(self, bitmaps: Sequence[str], core: int = 0, entries: int = 0, seed: int = 0) -> Decision:
        """Decide who gets a copy, in plain Python, from the bitmaps of the destination's own entries.

        Parameters
        ----------
        bitmaps : sequence of str
            The bitmap of each entry in use, core 0 on the left, all of the same length.
        core : int
            The destination.
        entries : int
            Entries of its TLB; one more than are in use if 0.

        Raises
        ------
        InputError
            A bitmap cannot be read, or they differ in length.

        Examples
        --------
        >>> from workbench.policies.translation.fill import PushPair
        >>> PushPair(fill_threshold=3).decide(["1100", "1110", "1100", "1000"])
        Decision(fills=True, pushes=(1,))
        """
        bitmaps, core = listed("bitmaps", bitmaps, "must be a list of bitmaps"), whole("core", core, 0, MOST_CORES - 1)
        entries, seed = whole("entries", entries, 0, MOST_ENTRIES), seed_of(seed)
        held_by = [cores_of(bitmap) for bitmap in bitmaps]
        cores = len(bitmaps[0]) if bitmaps else core + 1
        if any(len(bitmap) != cores for bitmap in bitmaps):
            raise wrong_value("", "bitmaps", "must all name the same cores", bitmaps)
        whole("core", core, 0, cores - 1)
        others = [[peer for peer in holders if peer != core] for holders in held_by]
        pairs = np.zeros((cores, cores), np.int64)
        for peer in (peer for named in others for peer in named):
            pairs[core, peer] += 1
        if entries and entries < len(bitmaps):
            raise wrong_value("", "entries", f"must be 0 or at least the {len(bitmaps)} in use", entries, len(bitmaps))
        shared, held, push = sum(map(bool, others)), len(bitmaps), np.zeros(cores, np.int64)
        seen = (core, cores, entries or held + 1, held, shared, pairs.reshape(-1), push)
        reply = int(self.plain_answer()(FillView(*seen, self.parameters(), self.start_memory(cores, seed))))
        return Decision(reply != REFUSED, tuple(push[: max(reply, 0)].tolist()))

    def ready(self, cores: int, seed: int = 0, checked: bool = False) -> ReadyFill:
        """Return the policy for one run: compiled functions, parameters, fresh memory."""
        return ReadyFill(
            self.ready_answer(checked),
            self.ready_notice("told", checked),
            self.parameters(),
            self.start_memory(cores, seed),
        )
