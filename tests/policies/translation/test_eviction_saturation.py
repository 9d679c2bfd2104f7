"""Sets under load against plain lists: every victim, and the candidates behind it, in full sets that lose entries.

The policy serves the sets of several cores. Streams and lost entries are drawn from fixed seeds; many pages tie.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.oracles.translation_load_eviction import Set, base_rule
from tests.slow import thinned
from workbench.policies.scenes import Speaker, compiled, plain
from workbench.policies.translation.eviction import ARC, FIFO, LFU, LRU, S3FIFO
from workbench.policies.translation.eviction.plain_set import NO_HOLDERS
from workbench.policies.translation.eviction.view import EvictionView, IncomingView, TouchView
from workbench.structures import set_assoc as table_of

POLICIES = [
    ARC(),
    LFU(),
    S3FIFO(),
    S3FIFO(small_share=0.5, ghost_share=0, move_uses=1),
    S3FIFO(small_share=0.3, ghost_share=4, move_uses=3),
    FIFO(),
    LRU(),
]
SHAPES = [(1, 1), (1, 4), (2, 1), (2, 3), (3, 4), (32, 1), (32, 2), (1000, 1)]
"""Ways, and sets of all cores."""


class Sets:
    """The sets of the engine, whose policy is asked and told through its functions."""

    def __init__(self, policy: Any, ways: int, sets: int, say: Any) -> None:
        self.ways = ways
        self.table = table_of.new_entry_sets(np.full(sets, ways), np.zeros(sets, np.int64))
        self.speaker = Speaker(policy, policy.start_memory(sets, ways, 0), say(policy))
        self.entry: dict[tuple[int, int], int] = {}

    def use(self, at: int, page: int, depth: int) -> list[int]:
        """Access a page of a set; return the pages that were proposed to go for it, the victim first."""
        gone: list[int] = []
        entry, first = self.entry.get((at, page)), at * self.ways
        fresh = entry is None
        if entry is None:
            self.speaker.tell("incoming", IncomingView(page, at, first, self.ways, None, None))
            entry = int(table_of.take_free(self.table, at))
            if entry < 0:
                entry, gone = self._proposed(at, depth)
                del self.entry[at, gone[0]]
                table_of.replace(self.table, at, entry, page, 0, -1)
            else:
                table_of.insert(self.table, at, entry, page, 0, -1)
            self.entry[at, page] = entry
        else:
            table_of.touch(self.table, at, entry)
        self.speaker.tell("touched", TouchView(entry, at, first, self.ways, int(fresh), None, None))
        return gone

    def _proposed(self, at: int, depth: int) -> tuple[int, list[int]]:
        ends = (table_of.NEWEST, table_of.OLDEST, table_of.EARLIEST)
        fields = *(int(self.table.sets[at * table_of.ROW + end]) for end in ends), self.table.entries
        entries = [-1]
        for nth in range(min(depth, self.ways)):
            view = EvictionView(
                nth, entries[-1], at, at * self.ways, self.ways, *fields, NO_HOLDERS, 0, 0, 0, None, None
            )
            entries.append(self.speaker.ask(view))
        rows = self.table.entries.reshape(-1, table_of.ROW)
        return entries[1], rows[entries[1:], table_of.PAGE].tolist()

    def drop(self, at: int, page: int) -> None:
        """Invalidate a page of a set, if it is there."""
        entry = self.entry.pop((at, page), None)
        if entry is not None:
            table_of.remove(self.table, at, entry)


class Lists:
    """The same sets as plain lists."""

    def __init__(self, policy: Any, ways: int, sets: int) -> None:
        self.sets = [Set(at, ways) for at in range(sets)]
        self.rule = base_rule(policy, 0)

    def use(self, at: int, page: int, depth: int) -> list[int]:
        one, gone = self.sets[at], list[Any]()
        fresh = page not in one.tags
        if fresh:
            self.rule.coming(one, page)
            if not one.free:
                gone = [one.tags[way] for way in itertools.islice(self.rule.candidates(one), depth)]
                one.take(one.tags.index(gone[0]))
            one.put(page)
        else:
            one.use(one.tags.index(page))
        self.rule.told(one, one.tags.index(page), fresh)
        return gone

    def drop(self, at: int, page: int) -> None:
        one = self.sets[at]
        if page in one.tags:
            one.take(one.tags.index(page))


def steps(ways: int, sets: int, count: int, losses: float) -> Iterator[tuple[int, int, bool]]:
    """Yield a set, a page and whether the page is lost: skewed pages, loops that just do not fit, scans."""
    draw = np.random.default_rng([ways, sets])
    skewed = (draw.random(count) ** 3 * 4 * ways).astype(np.int64)
    for step in range(count):
        part = step * 9 // count % 3
        page = (int(skewed[step]), step % (ways + 2), 10 * ways + step if step % 5 else int(skewed[step]))[part]
        yield int(draw.integers(sets)), page, bool(draw.random() < losses)


def faults(policy: Any, ways: int, sets: int, count: int, losses: float, say: Any = compiled) -> list[Any]:
    """Return the first step at which the sets and the lists differ, and the proposals of both."""
    depth = 40 if ways < 100 else 3
    ours, lists = Sets(policy, ways, sets, say), Lists(policy, ways, sets)
    victims = 0
    for at, page, lost in steps(ways, sets, count, losses):
        if lost:
            ours.drop(at, page)
            lists.drop(at, page)
            continue
        proposed, expected = ours.use(at, page, depth), lists.use(at, page, depth)
        victims += bool(expected)
        if proposed != expected:
            return [at, page, proposed, expected]
    assert victims > count // 20
    return []


CASES = [
    pytest.param(policy, *shape, losses, id=f"{policy.short()}-{shape[0]}x{shape[1]}-{losses}")
    for losses in (0, 0.1)
    for shape in SHAPES
    for policy in POLICIES
]


@pytest.mark.parametrize(("policy", "ways", "sets", "losses"), thinned(CASES, 3))
def test_full_sets_propose_what_lists_propose(policy: Any, ways: int, sets: int, losses: float) -> None:
    assert not faults(policy, ways, sets, 6000 if ways > 100 else 300 * sets + 20 * ways, losses)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.short())
def test_plain_functions_propose_the_same(policy: Any) -> None:
    assert not faults(policy, 8, 2, 600, 0.1, plain)
