"""Sets of entries and the rules by which they lose one, restated from the documents that define them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

WORD = (1 << 64) - 1


class Words:
    """Marsaglia's xorshift of 64 bits, (13, 7, 17)."""

    def __init__(self, start: int) -> None:
        self.word = start & WORD

    def below(self, count: int) -> int:
        """Draw a number below `count`: the upper bits of a word, again where they are too large."""
        if count == 1:
            return 0
        spare = 64 - (count - 1).bit_length()
        while True:
            self.word ^= self.word << 13 & WORD
            self.word ^= self.word >> 7
            self.word ^= self.word << 17 & WORD
            if self.word >> spare < count:
                return self.word >> spare


class Set:
    """The ways of a set: what each holds, in which order they were used and filled, and which are free."""

    def __init__(self, at: int, ways: int) -> None:
        self.at, self.ways = at, ways
        self.tags: list[int | None] = [None] * ways
        self.free = list(reversed(range(ways)))
        self.used: list[int] = []
        self.came: list[int] = []

    def put(self, tag: int) -> int:
        way = self.free.pop()
        self.tags[way] = tag
        self.used.append(way)
        self.came.append(way)
        return way

    def use(self, way: int) -> None:
        self.used.remove(way)
        self.used.append(way)

    def take(self, way: int) -> None:
        self.tags[way] = None
        self.used.remove(way)
        self.came.remove(way)
        self.free.append(way)


class Base:
    """A rule that needs to know nothing but the orders of a set."""

    def __init__(self, order: Callable[[Set], list[int]]) -> None:
        self.order = order

    def told(self, one: Set, way: int, fresh: bool) -> None:
        """Hear of a use."""

    def candidates(self, one: Set) -> Iterator[int]:
        yield from self.order(one)


class AtRandom(Base):
    """Any way, then those behind it in a circle."""

    def __init__(self, start: int) -> None:
        self.words = Words(start)

    def candidates(self, one: Set) -> Iterator[int]:
        first = self.words.below(one.ways)
        yield from ((first + k) % one.ways for k in range(one.ways))


class Tree(Base):
    """Tree-PLRU: each node points away from what was used last below it."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, int], int] = {}

    def _leaves(self, ways: int) -> int:
        return 1 << (ways - 1).bit_length()

    def told(self, one: Set, way: int, fresh: bool) -> None:
        node = self._leaves(one.ways) + way
        while node > 1:
            self.nodes[one.at, node // 2] = 1 - node % 2
            node //= 2

    def _below(self, one: Set, node: int, leaves: int) -> Iterator[int]:
        if node >= leaves:
            yield node - leaves
            return
        first = self.nodes.get((one.at, node), 0)
        yield from self._below(one, 2 * node + first, leaves)
        yield from self._below(one, 2 * node + 1 - first, leaves)

    def candidates(self, one: Set) -> Iterator[int]:
        yield from (way for way in self._below(one, 1, self._leaves(one.ways)) if way < one.ways)


class Predicted(Base):
    """SRRIP with hit priority."""

    def __init__(self, bits: int) -> None:
        self.most = (1 << bits) - 1
        self.off: dict[tuple[int, int], int] = {}

    def told(self, one: Set, way: int, fresh: bool) -> None:
        self.off[one.at, way] = self.insertion(one) if fresh else 0

    def insertion(self, one: Set) -> int:
        return self.most - 1

    def candidates(self, one: Set) -> Iterator[int]:
        older = self.most - max(self.off[one.at, way] for way in range(one.ways))
        for way in range(one.ways):
            self.off[one.at, way] += older
        yield from sorted(range(one.ways), key=lambda way: -self.off[one.at, way])


class Duelling(Predicted):
    """DRRIP: watched sets of two kinds decide how the others insert."""

    def __init__(self, bits: int, apart: int, selector_bits: int) -> None:
        super().__init__(bits)
        self.apart, self.largest = apart, (1 << selector_bits) - 1
        self.selector, self.bimodal = (1 << selector_bits) // 2 - 1, 0

    def insertion(self, one: Set) -> int:
        bimodal = 2 * self.selector > self.largest
        if one.at % self.apart == 0:
            bimodal, self.selector = False, min(self.selector + 1, self.largest)
        elif one.at % self.apart == self.apart // 2:
            bimodal, self.selector = True, max(self.selector - 1, 0)
        self.bimodal += bimodal
        return self.most if bimodal and self.bimodal % 32 else self.most - 1


ORDERS: dict[str, Callable[[Set], list[int]]] = {
    "LRU": lambda one: list(one.used),
    "MRU": lambda one: one.used[::-1],
    "FIFO": lambda one: list(one.came),
}


def base_rule(policy: Any, start: int) -> Base:
    """Return the rule that a policy names; `start` is where a random one begins."""
    name = type(policy).__name__
    if name in ORDERS:
        return Base(ORDERS[name])
    if name == "Random":
        return AtRandom(start)
    if name == "TreePLRU":
        return Tree()
    if name == "SRRIP":
        return Predicted(policy.bits)
    assert name == "DRRIP", name
    return Duelling(policy.bits, policy.sets_apart, policy.selector_bits)


class Protection:
    """Which candidate goes once sharing protects some (spec 4, R22-R26)."""

    def __init__(self, policy: Any) -> None:
        self.name = type(policy).__name__
        self.policy = policy

    def victim(self, candidates: Iterator[int], ways: int, degree: Callable[[int], int]) -> int:
        """Return the way that is evicted."""
        first = next(candidates)
        if self.name not in ("SharingAwareEviction", "ProtectLowDegree"):
            return first
        examined = ways if self.policy.fallback == "next_batch" else min(self.policy.candidates, ways)
        best, least = first, degree(first)
        for turn in range(examined):
            way = first if turn == 0 else next(candidates)
            if not self._protected(degree(way)):
                return way
            if degree(way) < least:
                best, least = way, degree(way)
        return best if self.policy.fallback == "lowest_degree" else first

    def _protected(self, degree: int) -> bool:
        high = degree >= self.policy.share_threshold
        return high if self.name == "SharingAwareEviction" else not high


class Tlb:
    """One TLB: tags in sets, filled and emptied one by one."""

    def __init__(self, entries: int, ways: int, base: Base, protection: Protection | None, first_set: int = 0) -> None:
        ways = ways or entries
        self.sets = [Set(first_set + k, ways) for k in range(entries // ways if entries else 0)]
        self.base, self.protection = base, protection
        self.ways: dict[int, int] = {}
        self.pusher: dict[int, int] = {}

    def _set(self, tag: int) -> Set:
        return self.sets[tag % len(self.sets)]

    def __contains__(self, tag: int) -> bool:
        return tag in self.ways

    def __len__(self) -> int:
        return len(self.ways)

    def use(self, tag: int) -> None:
        """Make an entry the one used last."""
        one = self._set(tag)
        one.use(self.ways[tag])
        self.base.told(one, self.ways[tag], False)

    def victim(self, tag: int, degree: Callable[[int], int]) -> int | None:
        """Return the tag that must leave before this one can enter, None while its set has a free way."""
        one = self._set(tag)
        if one.free:
            return None

        def of_way(way: int) -> int:
            held = one.tags[way]
            assert held is not None
            return degree(held)

        candidates = self.base.candidates(one)
        way = self.protection.victim(candidates, one.ways, of_way) if self.protection else next(candidates)
        return one.tags[way]

    def enter(self, tag: int) -> None:
        """Put a tag into a free way."""
        one = self._set(tag)
        self.ways[tag] = one.put(tag)
        self.base.told(one, self.ways[tag], True)

    def drop(self, tag: int) -> int:
        """Take a tag out; return who pushed it and never saw it used, -1 for nobody."""
        self._set(tag).take(self.ways.pop(tag))
        return self.pusher.pop(tag, -1)
