"""A TLB: sets of entries in order of use, a victim by policy (spec 4, R5, R22)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Evicts = Callable[[Sequence[int], Sequence[int]], int]


class Tlb:
    """Tags that are held, each set from the least to the most recent."""

    def __init__(self, entries: int, ways: int, answer: Evicts, degree: Callable[[int], int]) -> None:
        self._ways = ways or entries
        self._sets: list[list[int]] = [[] for _ in range(entries // self._ways if entries else 0)]
        self._answer, self._degree = answer, degree

    def __contains__(self, tag: int) -> bool:
        return bool(self._sets) and tag in self._set(tag)

    @property
    def tags(self) -> list[int]:
        """Return all tags that are held."""
        return [tag for one in self._sets for tag in one]

    def touch(self, tag: int) -> None:
        """Make a tag the most recent of its set."""
        self._set(tag).remove(tag)
        self._set(tag).append(tag)

    def fill(self, tag: int) -> int | None:
        """Enter a tag and return the victim, if one had to go; a tag that is there is not entered twice."""
        if not self._sets or tag in self:
            return None
        victim, entries = None, self._set(tag)
        if len(entries) == self._ways:
            victim = self._answer(list(entries), [self._degree(one) for one in entries])
            entries.remove(victim)
        entries.append(tag)
        return victim

    def drop(self, tag: int) -> bool:
        """Drop a tag; return whether it was there."""
        held = tag in self
        if held:
            self._set(tag).remove(tag)
        return held

    def _set(self, tag: int) -> list[int]:
        return self._sets[tag % len(self._sets)]
