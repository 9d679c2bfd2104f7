"""A memory that a policy hands out step by step, in plain Python (spec 1, R1-R6, R9, E1, E12)."""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np

from workbench.errors import InputError
from workbench.policies.arguments import one_of, seed_of, whole
from workbench.policies.placement.free_map import FEWEST_SEGMENTS, MOST_SEGMENTS, as_text
from workbench.policies.placement.view import REFUSED, PlacementNotice
from workbench.structures.bitmaps import all_free, mark_free, mark_taken, next_free

Release = Literal["strict", "lenient"]
"""What may be given back: exactly a live grant, or any range (spec 1, E12)."""


class Placer(Protocol):
    """What an allocator needs of its placement policy."""

    @property
    def layout(self) -> str: ...
    @property
    def name(self) -> str: ...
    def admitted(self, length: int, segments: int) -> int: ...
    def ask(self, words: np.ndarray, segments: int, length: int, memory: np.ndarray) -> int: ...
    def parameters(self) -> np.ndarray: ...
    def start_memory(self, segments: int, seed: int) -> np.ndarray: ...
    def tell(self, name: str, notice: Any) -> None: ...


class Allocator:
    """One memory of equal segments under one policy.

    Parameters
    ----------
    policy : Placement
        Who decides; any but one that moves live ranges.
    segments : int
        How many segments, 2 to 4,096, all free at first.
    release : {"strict", "lenient"}
        Strict: what is given back must be a live grant. Lenient: whatever is occupied in the range becomes free.
    seed : int
        For policies that draw at random.

    Examples
    --------
    >>> from workbench.policies.placement import NearestBoundary
    >>> memory = NearestBoundary().allocator(segments=16)
    >>> memory.take(3), memory.take(5), memory.take(9), memory.free_map
    (0, 11, None, '0001111111100000')
    >>> memory.give_back(11, 5)
    >>> memory.give_back(11, 5)
    Traceback (most recent call last):
    workbench.errors.InputError: [11, 16) is not a live grant; there are [0, 3).
    """

    def __init__(self, policy: Placer, segments: int, release: Release = "strict", seed: int = 0) -> None:
        if policy.layout == "compacting":
            raise InputError(f"{policy.name} moves live ranges, so their addresses cannot be handed out; use its base.")
        self.segments = whole("segments", segments, FEWEST_SEGMENTS, MOST_SEGMENTS)
        self.policy, self.release, seed = policy, one_of("release", release, get_args(Release)), seed_of(seed)
        self._free = all_free(self.segments)
        self._memory = policy.start_memory(self.segments, seed)
        self._live: dict[tuple[int, int], list[tuple[int, int]]] = {}

    @property
    def free_map(self) -> str:
        """Return the state as a string, segment 0 first, 1 for a free segment."""
        return as_text(self._free, self.segments)

    def take(self, length: int) -> int | None:
        """Ask for contiguous segments: the first of them, or None when they do not fit now.

        Raises
        ------
        InputError
            The length could never be served (spec 1, E1).
        """
        taken = self.policy.admitted(length, self.segments)
        start = self.policy.ask(self._free, self.segments, taken, self._memory)
        if start == REFUSED:
            return None
        ranges = self._scattered(taken) if self.policy.layout == "scattered" else [(start, taken)]
        for first, count in ranges:
            mark_taken(self._free, first, count)
        self._live[start, int(length)] = ranges
        self._tell("granted", start, taken)
        return start

    def give_back(self, start: int, length: int) -> None:
        """Release a range: its segments become free (spec 1, R5, R9).

        Raises
        ------
        InputError
            The range does not lie in the memory, or is no live grant although releases are strict.
        """
        start, length = whole("start", start, None, None), whole("length", length, None, None)
        if length < 1 or start < 0 or start + length > self.segments:
            raise InputError(f"[{start}, {start + length}) does not lie within the {self.segments} segments.")
        ranges = self._live.pop((start, length), None)
        if ranges is None and self.release == "strict":
            live = ", ".join(f"[{s}, {s + m})" for s, m in sorted(self._live)) or "none"
            raise InputError(f"[{start}, {start + length}) is not a live grant; there are {live}.")
        ranges = ranges or [(start, length)]
        for first, count in ranges:
            mark_free(self._free, first, count)
        self._tell("released", start, sum(count for _, count in ranges))

    def _scattered(self, length: int) -> list[tuple[int, int]]:
        """Return the lowest free segments, one by one."""
        lowest = [next_free(self._free, 0)]
        while len(lowest) < length:
            lowest.append(next_free(self._free, lowest[-1] + 1))
        return [(int(segment), 1) for segment in lowest]

    def _tell(self, name: str, start: int, length: int) -> None:
        notice = PlacementNotice(self._free, self.segments, start, length, self.policy.parameters(), self._memory)
        self.policy.tell(name, notice)
