"""The policies of translation in plain Python, from the sentences of spec 4 (R7, R14-R27, E1-E17, section 7)."""

from __future__ import annotations

from typing import Any

MASK = (1 << 64) - 1


class Xorshift:
    """Marsaglia's xorshift of 64 bits with the triple 13, 7, 17; too large draws are repeated."""

    def __init__(self, state: int) -> None:
        self.state = max(state, 1)

    def below(self, count: int) -> int:
        if count == 1:
            return 0
        while True:
            self.state ^= (self.state << 13) & MASK
            self.state ^= self.state >> 7
            self.state ^= (self.state << 17) & MASK
            drawn = self.state >> (64 - (count - 1).bit_length())
            if drawn < count:
                return drawn


class Eviction:
    """A base policy, and what protects its candidates: `protects` is None, "high" or "low"."""

    def __init__(
        self,
        base: str,
        protects: str | None = None,
        candidates: int = 4,
        threshold: int = 2,
        fallback: str = "plain_base",
        seed: int = 1,
        bits: int = 2,
    ) -> None:
        self.base, self.protects, self.candidates = base, protects, candidates
        self.threshold, self.fallback = threshold, fallback
        self.draw, self.most = Xorshift(seed), (1 << bits) - 1
        self.away: dict[tuple[int, int, int], bool] = {}
        self.far: dict[tuple[int, int], int] = {}
        self.misses, self.bimodal = 511, 0

    def touched(self, number: int, way: int, ways: int, fresh: bool) -> None:
        if self.base == "tree_plru":
            low, high = 0, _leaves(ways)
            while high - low > 1:
                middle = (low + high) // 2
                upper = way >= middle
                self.away[number, low, high] = not upper
                low, high = (middle, high) if upper else (low, middle)
        if self.base == "srrip":
            self.far[number, way] = self.most - 1 if fresh else 0
        if self.base == "drrip":
            self.far[number, way] = self._far_as_the_duel_goes(number) if fresh else 0

    def _far_as_the_duel_goes(self, number: int) -> int:
        """Sets 0, 8, 16 ... insert as SRRIP, 4, 12, 20 ... bimodally; the others as those that have inserted less."""
        kind = {0: "srrip", 4: "bimodal"}.get(number % 8, "bimodal" if self.misses > 511 else "srrip")
        self.misses += {0: 1, 4: -1}.get(number % 8, 0)
        self.misses = min(max(self.misses, 0), 1023)
        if kind == "srrip":
            return self.most - 1
        self.bimodal += 1
        return self.most - 1 if self.bimodal % 32 == 0 else self.most

    def order(self, number: int, one: Any) -> list[int]:
        """Every way in the order in which the base policy proposes them."""
        ways = len(one.ways)
        if self.base == "random":
            first = self.draw.below(ways)
            return [(first + k) % ways for k in range(ways)]
        if self.base == "tree_plru":
            return [way for way in self._walk(number, 0, _leaves(ways)) if way < ways]
        if self.base in ("srrip", "drrip"):
            short = self.most - max(self.far[number, way] for way in range(ways))
            for way in range(ways):
                self.far[number, way] += short
            return sorted(range(ways), key=lambda way: (-self.far[number, way], way))
        return {"lru": one.used, "mru": one.used[::-1], "fifo": one.came}[self.base]

    def _walk(self, number: int, low: int, high: int) -> list[int]:
        if high - low == 1:
            return [low]
        middle = (low + high) // 2
        halves = [self._walk(number, low, middle), self._walk(number, middle, high)]
        return [*halves[1], *halves[0]] if self.away.get((number, low, high), False) else [*halves[0], *halves[1]]

    def victim(self, number: int, one: Any, degrees: list[int]) -> int:
        order = list(self.order(number, one))
        if self.protects is None:
            return order[0]
        examined = order if self.fallback == "next_batch" else order[: self.candidates]
        for way in examined:
            high = degrees[way] >= self.threshold
            if high != (self.protects == "high"):
                return way
        if self.fallback == "lowest_degree":
            return min(examined, key=lambda way: degrees[way])
        return order[0]


def _leaves(ways: int) -> int:
    count = 1
    while count < ways:
        count *= 2
    return count


class Peer:
    def __init__(self, kind: str, seed: int = 1) -> None:
        self.kind, self.draw = kind, Xorshift(seed)

    def choose(self, holders: list[int], distance: list[int], requests: list[int]) -> int:
        if self.kind == "nearest":
            return min(holders, key=lambda p: (distance[p], p))
        if self.kind == "least_loaded":
            return min(holders, key=lambda p: (requests[p], p))
        if self.kind == "random":
            return holders[self.draw.below(len(holders))]
        return holders[0]


class Fill:
    """Who is filled; `amount` is the threshold, or the reach of neighbours."""

    def __init__(
        self, kind: str, amount: int = 3, cores: int = 0, least: int = 2, most: int = 3, again: int = 64
    ) -> None:
        self.kind, self.amount, self.least, self.most, self.again = kind, amount, least, most, again
        self.trust = {(a, b): min(least, most) for a in range(cores) for b in range(cores)}
        self.misses = dict.fromkeys(range(cores), 0)

    def decide(self, core: int, entries: int, held: int, shared: int, pairs: list[int]) -> tuple[bool, list[int]]:
        others = [peer for peer in range(len(pairs)) if peer != core]
        if self.kind == "gate_any":
            return shared >= self.amount, []
        if self.kind == "gate_pair":
            return any(pairs[p] >= self.amount for p in others), []
        if self.kind == "gate_when_full":
            return held < entries or shared >= self.amount, []
        if self.kind == "push_pair":
            return True, [p for p in others if pairs[p] >= self.amount]
        if self.kind == "push_neighbours":
            return True, [(core + k) % len(pairs) for k in range(1, min(self.amount, len(pairs) - 1) + 1)]
        if self.kind == "leader_follower":
            self.misses[core] += 1
            tried = self.misses[core] % self.again == 0
            return True, [p for p in others if tried or self.trust[core, p] >= self.least]
        return True, []

    def told(self, core: int, peer: int, used: bool) -> None:
        if self.kind == "leader_follower":
            trust = self.trust[core, peer] + (1 if used else -1)
            self.trust[core, peer] = min(max(trust, 0), self.most)


def copies(kind: str, threshold: int, pair: int) -> bool:
    return {"always": True, "never": False, "threshold": pair >= threshold}[kind]
