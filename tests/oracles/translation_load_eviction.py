"""Sets of entries and the rules by which they lose one, restated from the documents that define them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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

    def coming(self, one: Set, tag: int) -> None:
        """Hear which tag will enter, before anything is evicted for it."""

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


class Frequency(Base):
    """LFU: uses since the insertion, which counts; equals in the order of their last use."""

    def __init__(self) -> None:
        self.uses: Counter[tuple[int, int]] = Counter()

    def told(self, one: Set, way: int, fresh: bool) -> None:
        self.uses[one.at, way] *= not fresh
        self.uses[one.at, way] += 1

    def candidates(self, one: Set) -> Iterator[int]:
        yield from sorted(one.used, key=lambda way: self.uses[one.at, way])


@dataclass
class Lists:
    """T1 and T2 of ARC as the tags of ways, B1 and B2 as tags, the oldest first."""

    seen: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    """The list, 1 or 2, and the tag of each way."""
    gone: dict[int, list[int | None]] = field(default_factory=lambda: {1: [], 2: []})
    target: float = 0.0
    hit: int = 0
    leaver: str = "nobody"
    """Whether the way that is filled next was emptied for it, and whether its tag is to be remembered."""


class Adaptive(Base):
    """ARC: Megiddo and Modha, figure 4, cases II to IV."""

    def __init__(self) -> None:
        self.sets: dict[int, Lists] = {}

    def coming(self, one: Set, tag: int) -> None:
        lists = self.sets.setdefault(one.at, Lists())
        lists.leaver = "nobody"
        lists.hit = next((k for k in (1, 2) if tag in lists.gone[k]), 0)
        if not lists.hit:
            return
        mine, other = len(lists.gone[lists.hit]), len(lists.gone[3 - lists.hit])
        step = 1.0 if other < mine else other / mine
        lists.target = min(one.ways, lists.target + step) if lists.hit == 1 else max(0, lists.target - step)
        lists.gone[lists.hit].remove(tag)

    def candidates(self, one: Set) -> Iterator[int]:
        lists = self.sets[one.at]
        first = [way for way in one.used if lists.seen[way][0] == 1]
        second = [way for way in one.used if lists.seen[way][0] == 2]
        lists.leaver = "remembered"
        if not lists.hit and len(first) == one.ways:
            lists.leaver = "forgotten"
        elif not lists.hit and len(first) + len(lists.gone[1]) >= one.ways:
            lists.gone[1].pop(0)
        elif not lists.hit and one.ways + sum(map(len, lists.gone.values())) >= 2 * one.ways:
            lists.gone[2].pop(0)
        at_target = len(first) == lists.target and lists.hit == 2
        yield from (
            first + second if not second or (first and (len(first) > lists.target or at_target)) else second + first
        )

    def told(self, one: Set, way: int, fresh: bool) -> None:
        lists = self.sets[one.at]
        tag = one.tags[way]
        if fresh and lists.leaver == "remembered":
            which, left = lists.seen[way]
            lists.gone[which] = [*lists.gone[which], left][-one.ways :]
        lists.seen[way] = (2 if not fresh or lists.hit else 1, tag)
        lists.leaver = "nobody" if fresh else lists.leaver


@dataclass
class Queues:
    """The small and the main queue of S3-FIFO as ways with their uses and tags, the ghosts as tags."""

    small: dict[int, int] = field(default_factory=dict)
    main: dict[int, int] = field(default_factory=dict)
    tags: dict[int, int | None] = field(default_factory=dict)
    ghosts: list[int | None] = field(default_factory=list)
    ghost_comes: bool = False
    evicts: bool = False
    has_evicted: bool = False


class ThreeQueues(Base):
    """S3-FIFO: Yang and others, algorithm 1, as libCacheSim 0.3.5 has it."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.sets: dict[int, Queues] = {}

    def coming(self, one: Set, tag: int) -> None:
        queues = self.sets.setdefault(one.at, Queues())
        queues.evicts, queues.ghost_comes = False, tag in queues.ghosts
        if queues.ghost_comes:
            queues.ghosts.remove(tag)

    def _small(self, one: Set) -> int:
        return int(one.ways * self.policy.small_share) or 1

    def candidates(self, one: Set) -> Iterator[int]:
        queues = self.sets[one.at]
        queues.evicts = queues.has_evicted = True
        small, main = queues.small, queues.main
        if len(main) <= one.ways - self._small(one):
            while small and small[next(iter(small))] >= self.policy.move_uses:
                main[next(iter(small))] = 0
                del small[next(iter(small))]
            if small:
                yield from [*small, *main]
                return
        while uses := main[way := next(iter(main))]:
            del main[way]
            main[way] = min(uses, 3) - 1
        yield from [*main, *small]

    def told(self, one: Set, way: int, fresh: bool) -> None:
        queues = self.sets[one.at]
        if not fresh:
            (queues.small if way in queues.small else queues.main)[way] += 1
            return
        room = int(one.ways * self.policy.ghost_share)
        if way in queues.small and queues.evicts and room:
            queues.ghosts = [*queues.ghosts, queues.tags[way]][-room:]
        queues.small.pop(way, None)
        queues.main.pop(way, None)
        fills_main = not queues.has_evicted and len(queues.small) >= self._small(one)
        (queues.main if queues.ghost_comes or fills_main else queues.small)[way] = 0
        queues.tags[way], queues.evicts = one.tags[way], False


RULES: dict[str, Callable[[Any, int], Base]] = {
    "LRU": lambda policy, start: Base(lambda one: list(one.used)),
    "MRU": lambda policy, start: Base(lambda one: one.used[::-1]),
    "FIFO": lambda policy, start: Base(lambda one: list(one.came)),
    "TreePLRU": lambda policy, start: Tree(),
    "SRRIP": lambda policy, start: Predicted(policy.bits),
    "Random": lambda policy, start: AtRandom(start),
    "LFU": lambda policy, start: Frequency(),
    "ARC": lambda policy, start: Adaptive(),
    "S3FIFO": lambda policy, start: ThreeQueues(policy),
    "DRRIP": lambda policy, start: Duelling(policy.bits, policy.sets_apart, policy.selector_bits),
}
"""The rule of each base policy, by its class; cases are drawn from these."""


def base_rule(policy: Any, start: int) -> Base:
    """Return the rule that a policy names; `start` is where a random one begins."""
    return RULES[type(policy).__name__](policy, start)


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
        self.base.coming(one, tag)
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
