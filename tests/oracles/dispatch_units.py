"""Slow, obvious twins of the policies for units, written from the sentences of spec 3, Em. 8, and section 7.

A twin is one module: it is asked `split(waves)` for a group that is dispatched to it, and answers with the waves of
each unit. Waves are dealt out like cards; nothing here comes from the workbench.
"""

from __future__ import annotations


def dealt(waves: int, units: int, first: int) -> list[int]:
    """Waves dealt one at a time, round and round, beginning at a unit."""
    counts = [0] * units
    for card in range(waves):
        counts[(first + card) % units] += 1
    return counts


class Corrected:
    """R63 and R64: the next group begins behind the last unit that received a wave of the one before."""

    def __init__(self, units: int, tail: bool) -> None:
        self.units, self.next = units, 1 % units if tail else 0

    def split(self, waves: int) -> list[int]:
        counts = dealt(waves, self.units, self.next)
        self.next = (self.next + waves) % self.units
        return counts


class AsWritten:
    """R65 in the words of section 4: t from the literal formula, then the rotation from the new t."""

    def __init__(self, units: int, tail: bool, reading: str) -> None:
        self.units, self.tail, self.reading, self.t = units, tail, reading, 0

    def split(self, waves: int) -> list[int]:
        more = waves if self.tail else waves + 1  # "the extra +1 in the head formula"
        if self.reading == "A":
            remainder = (self.t + more) % self.units
            new = remainder if remainder != 0 else self.t
        else:
            remainder = more % self.units
            new = self.t + remainder if remainder != 0 else self.t
        self.t = new % self.units
        return dealt(waves, self.units, self.t + 1 if self.tail else self.t)


def least_loaded(waves: int, taken: list[int]) -> list[int]:
    """Section 7, least-loaded greedy per wave: the unit with the fewest, the lowest of them."""
    loads = list(taken)
    for _ in range(waves):
        loads[loads.index(min(loads))] += 1
    return [after - before for after, before in zip(loads, taken, strict=True)]


def drawn(state: int, count: int) -> tuple[int, int]:
    """A number below `count`, and the generator's next state: the upper bits of a word, drawn again while too large.

    The generator is Marsaglia's xorshift of 64 bits with the triple (13, 7, 17).
    """
    if count == 1:
        return 0, state
    bits = (count - 1).bit_length()
    while True:
        state ^= state << 13 & (1 << 64) - 1
        state ^= state >> 7
        state ^= state << 17 & (1 << 64) - 1
        if state >> 64 - bits < count:
            return state >> 64 - bits, state
