"""Where does a request go? The own card, cache first; else the card that the policy chooses (spec 5, R10-R15, R22-R24).

The same questions as in the engine `pool`, put to the same policies in plain Python, over the real state of the arenas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.machine import Board
from workbench.policies.pool import Cache, CacheFit, IdleRelease, Target
from workbench.policies.pool.cache.question import in_class
from workbench.policies.pool.target.plain import summed
from workbench.pool_service.card_cache import CardCache, DriverCall, check_rules


class Grant(NamedTuple):
    """A region that was given."""

    card: int
    offset: int
    cached: bool
    """Whether a cached block served it."""


class Ledger:
    """The records of all cards.

    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce
    >>> board = Board(cards=tuple(card.but(memory_bytes=100) for card in Board().cards))
    >>> ledger = Ledger(board, BestFit(), SplitAndCoalesce(), MaxBandwidth(), KeepAll())
    >>> ledger.alloc(1, 80), ledger.alloc(1, 50)           # the second does not fit gpu0: gpu1 is next by NVLink
    (Grant(card=1, offset=0, cached=False), Grant(card=2, offset=0, cached=False))
    """

    def __init__(self, board: Board, fit: CacheFit, cache: Cache, target: Target, idle: IdleRelease) -> None:
        rules, paths = check_rules(cache), board.paths()
        self.calls: list[DriverCall] = []
        """The driver calls since the list was last emptied."""
        self.cards = [
            CardCache(number, card.free_bytes, rules, fit, idle, self.calls) for number, card in enumerate(board.cards)
        ]
        self._granule, self._classes = rules.granule, rules.classes
        self._gbps, self._hops = paths.gbps, paths.hops
        self._totals = np.array([card.free_bytes for card in board.cards], np.int64)
        self._hosts = np.array([card.kind == "cpu" for card in board.cards], np.int64)
        self._lent = np.zeros((len(self.cards), len(self.cards)))
        count = len(self.cards)
        self._target = target
        self._terms = [
            (term, weight, term.parameters_on(board.ids), term.start_memory(count, 0))
            for term, weight in target.terms()
        ]

    def alloc(self, borrower: int, size: int) -> Grant | None:
        """Serve a request; None = no card can (spec 5, R24)."""
        need = self._need(size)
        if self._target.own_first():
            found = self.cards[borrower].take(size, need)
            if found is not None:
                return Grant(borrower, *found)
        card = self._lender(borrower, size, need)
        if card < 0:
            return None
        found = self.cards[card].take(size, need)
        if found is None:
            return None
        self._told(card)
        if card != borrower:
            self._lent[borrower, card] += 1
        return Grant(card, *found)

    def _need(self, size: int) -> int:
        """The bytes of the block that serves a size, as `Cache.block_bytes` has them."""
        rounded = -(-size // self._granule) * self._granule
        return in_class(rounded, self._classes) if self._classes else rounded

    def size_at(self, card: int, offset: int) -> int:
        """Bytes of the region in use there; 0 = there is none."""
        return self.cards[card].size_at(offset)

    def give_back(self, card: int, offset: int) -> None:
        """A region in use is no longer."""
        self.cards[card].give_back(offset)

    def _lender(self, borrower: int, size: int, need: int) -> int:
        """The card with the highest score of those that can hold the request, the lowest of equal ones; -1 = none."""
        own = () if not self._target.own_first() else (borrower,)
        others = [card for card in range(len(self.cards)) if card not in own and self._totals[card]]
        if self._target.filters():
            others = [card for card in others if self.cards[card].serves(size, need)]
        if not others:
            return -1
        scores = self._scores(borrower, np.array(others, np.int64), size)
        best = int(np.argmax(scores))
        return others[best] if scores[best] > -np.inf else -1

    def _scores(self, borrower: int, candidates: np.ndarray, size: int) -> np.ndarray:
        free = np.array([card.cached + card.ranges.free_bytes for card in self.cards], np.int64)
        held = np.array([card.in_use for card in self.cards], np.int64)
        seen = (free, self._gbps[:, borrower], self._hops[:, borrower], self._lent[borrower], held)
        each = []
        for term, weight, params, memory in self._terms:
            scores = np.zeros(len(candidates))
            asked = (borrower, len(candidates), candidates, size, *seen, self._totals, self._hosts)
            term.function()(*asked, scores, params, memory)
            each.append((scores, weight))
        return summed(each, self._target.normalises())

    def _told(self, card: int) -> None:
        for term, _, params, memory in self._terms:
            if chosen := type(term).chosen:
                chosen(card, len(self.cards), params, memory)
