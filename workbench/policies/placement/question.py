"""Where in a memory of equal segments does a request go? (spec 1, R17-R23)

An answer is a plain function `answer(free, segments, length, params, memory)`:

free     readonly uint64[words], the free map (`workbench.structures.free_map`), after this cycle's releases
segments int64, how many segments the memory has
length   int64, how many contiguous segments are asked for, 1 <= length <= segments
params   readonly float64[levers], the policy's levers in the order of declaration
memory   int64[memory_size], all that the policy remembers; it belongs to the run and starts as `start_memory` says

It returns the first segment of the range to grant, or -1: the request does not fit now. It sees what the hardware sees:
not the queue, not the future, not the score. A policy that must know what became of its answers also defines
`granted(free, segments, start, length, params, memory)` and `released(...)` with the same parameters, both called after
the free map has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import NO_ANSWER, Question
from workbench.policies.placement.free_map_text import Bits, Encoding, as_text, as_words
from workbench.policies.policy import Policy
from workbench.structures import free_map

REFUSED = -1
"""The answer that says: does not fit now."""

Layout = Literal["contiguous", "scattered", "compacting"]
"""What a grant may be: one range; any free segments; one range after live ranges were moved together."""

_STATE = {"free": "readonly uint64[]", "segments": "int64"}
_LEVERS = {"params": "readonly float64[]", "memory": "int64[]"}
PLACE = Question("placement", **_STATE, length="int64", **_LEVERS)
TOLD = Question("placement notice", returns="nothing", **_STATE, start="int64", length="int64", **_LEVERS)


class ReadyPlacement(NamedTuple):
    """A placement policy as engines receive it; the type is the same for every policy."""

    answer: Any
    granted: Any
    released: Any
    params: np.ndarray
    memory: np.ndarray


class Placement(Policy, abstract=True):
    """The base of every placement policy."""

    question: ClassVar[str] = "placement"
    layout: ClassVar[Layout] = "contiguous"
    addressed: ClassVar[bool] = True
    """Whether a grant has an address at all; a byte counter's has none, and measures of wear are then undefined."""
    granted: ClassVar[Callable[..., None] | None] = None
    released: ClassVar[Callable[..., None] | None] = None

    def place(self, free: Bits, length: int) -> int | None:
        """The first segment of the range that this policy grants in a state, None when the request does not fit.

        Parameters
        ----------
        free : str or array of bool
            The free map, segment 0 first; `1` is a free segment.
        length : int
            Contiguous segments asked for.

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
        """Every feasible start as a string, segment 0 first (spec 1, R16).

        >>> from workbench.policies.placement import FirstFit
        >>> FirstFit().start_map("0111100111111100", 4)
        '0100000111100000'
        """
        words, segments = as_words(free, self._encoding(), length)
        return as_text(free_map.start_map(words, length), segments)

    def ask(self, words: np.ndarray, segments: int, length: int, memory: np.ndarray) -> int:
        """Ask the plain function once, in Python, over words: what to call when a step is to be followed."""
        if length > segments:
            return REFUSED
        return int(self.function()(words, segments, length, self.parameters(), memory))

    def footprint(self, length: Any, segments: int) -> Any:
        """How many segments a request really takes (numbers or arrays): itself, unless the policy rounds it up."""
        return length

    def lasting(self, duration: Any) -> Any:
        """How long a workgroup really runs (numbers or arrays): its own time, unless access to its memory is slower."""
        return duration

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """What the policy remembers at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def ready(self, segments: int, seed: int = 0, checked: bool = False) -> ReadyPlacement:
        """The policy for one run: compiled functions, parameters, fresh memory."""
        cls = type(self)
        return ReadyPlacement(
            PLACE.ready(self.function(), checked),
            TOLD.ready(cls.granted, checked) if cls.granted else NO_ANSWER,
            TOLD.ready(cls.released, checked) if cls.released else NO_ANSWER,
            self.parameters(),
            self.start_memory(segments, seed),
        )

    def _encoding(self) -> Encoding:
        return getattr(self, "encoding", "free1")
