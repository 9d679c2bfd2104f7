"""Where in a memory of equal segments does a request go? (spec 1, R17-R23)

An answer takes a `PlacementView`, which holds what the hardware sees: not the queue, not the future, not the score. A
policy that must know what became of its answers also defines `granted(see)` and `released(see)`, which take a
`PlacementNotice` after the free map has changed. `free_map` reads a free map as people write it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import InputError
from workbench.policies.arguments import whole
from workbench.policies.placement.free_map import MOST_SEGMENTS, Bits, Encoding, as_text, as_words, check_length
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.policies.policy import Policy
from workbench.structures import bitmaps

if TYPE_CHECKING:
    from workbench.policies.placement.allocator import Allocator, Release

Layout = Literal["contiguous", "scattered", "compacting"]
"""What a grant may be: one range; any free segments; one range after live ranges were moved together."""

Notice = Callable[..., Any]
"""A plain function that is told of a grant or a release and returns nothing."""

PLACE = Question(
    "placement",
    PlacementView,
    answers="the first segment of the range to grant, or -1: the request does not fit now",
    wrong="answered {answer}, which is not the start of a free range; -1 says that a request does not fit now",
)
TOLD = Question("placement notice", PlacementNotice, returns="nothing")


class ReadyPlacement(NamedTuple):
    """A placement policy as engines receive it; the type is the same for every policy."""

    answer: Answer
    granted: Answer
    released: Answer
    params: np.ndarray
    memory: np.ndarray


class Placement(Policy, abstract=True):
    """The base of every placement policy.

    A new one needs an `answer`; everything else has a default that says "nothing special".
    """

    question: ClassVar[str] = "placement"
    asks: ClassVar[Question] = PLACE
    tells = {"granted": TOLD, "released": TOLD}
    layout: ClassVar[Layout] = "contiguous"
    addressed: ClassVar[bool] = True
    """Whether a grant has an address at all; a byte counter's has none."""
    granted: ClassVar[Notice | None] = None
    released: ClassVar[Notice | None] = None

    def place(self, free: Bits, length: int) -> int | None:
        """Choose the first segment of the range that this policy grants in a state, None when the request does not fit
        now.

        Parameters
        ----------
        free : str or array of bool
            The free map, segment 0 first; `1` is a free segment.
        length : int
            Contiguous segments asked for.

        Raises
        ------
        InputError
            The free map cannot be read, or the length is not from 1 to the number of segments (spec 1, E1).

        Examples
        --------
        >>> from workbench.policies.placement import FirstFit
        >>> FirstFit().place("0111100111111100", 5)
        7
        """
        words, segments = as_words(free, self._encoding(), length)
        start = self.ask(words, segments, self.footprint(length, segments), self.start_memory(segments, 0))
        return None if start == REFUSED else start

    def start_map(self, free: Bits, length: int) -> str:
        """Return every feasible start as a string, segment 0 first (spec 1, R16).

        >>> from workbench.policies.placement import FirstFit
        >>> FirstFit().start_map("0111100111111100", 4)
        '0100000111100000'
        """
        words, segments = as_words(free, self._encoding(), length)
        return as_text(bitmaps.start_map(words, int(length)), segments)

    def allocator(self, segments: int, release: Release = "strict", seed: int = 0) -> Allocator:
        """Return a memory of so many free segments that this policy hands out, to be tried out step by step.

        >>> from workbench.policies.placement import FirstFit
        >>> memory = FirstFit().allocator(segments=16)
        >>> memory.take(3), memory.take(5), memory.free_map
        (0, 3, '0000000011111111')
        """
        # Imported here: a run's id digests what is global, and a memory by hand decides no run.
        from workbench.policies.placement.allocator import Allocator

        return Allocator(self, segments, release, seed)

    def ask(self, words: np.ndarray, segments: int, length: int, memory: np.ndarray) -> int:
        """Ask the plain function once, in Python, over words: what to call when a step is to be followed."""
        if length > segments:
            return REFUSED
        with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
            return int(self.plain_answer()(PlacementView(words, segments, length, self.parameters(), memory)))

    def admitted(self, length: int, segments: int) -> int:
        """Return the segments that a request takes, after refusing one that could never be served (spec 1, E1).

        Raises
        ------
        InputError
            The length is no whole number from 1 to the number of segments, or this policy rounds it above that.
        """
        segments = whole("segments", segments, 1, MOST_SEGMENTS)
        check_length(length, segments)
        taken = int(self.footprint(length, segments))
        if taken > segments:
            raise InputError(f"{self.name} serves {length} segments with {taken}, more than the {segments} there are.")
        return taken

    def footprint(self, length: Any, segments: int) -> Any:
        """Return the number of segments that a request really takes (numbers or arrays): itself, unless the policy
        rounds it up."""
        return length

    def lasting(self, duration: Any) -> Any:
        """Return the cycles for which a workgroup holds its grant (numbers or arrays): itself, unless the layout slows
        it down."""
        return duration

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def work_conserving(self) -> bool:
        """Return whether it grants whenever some free range is long enough; one that may refuse then says so here."""
        return True

    def serves_empty(self) -> bool:
        """Return whether it grants every admitted request in an empty memory; where not, a queue may wait for ever."""
        return True

    def ready(self, segments: int, seed: int = 0, checked: bool = False) -> ReadyPlacement:
        """Return the policy for one run: compiled functions, parameters, fresh memory."""
        return ReadyPlacement(
            self.ready_answer(checked),
            self.ready_notice("granted", checked),
            self.ready_notice("released", checked),
            self.parameters(),
            self.start_memory(segments, seed),
        )

    def _encoding(self) -> Encoding:
        return getattr(self, "encoding", "free1")
