"""Bounds of the pool the slow way: every way to lay whole regions on cards is tried, byte by byte where they move.

Written from spec 5, section 7, and from what the studies say that their bounds are; it shares no code with them.
"""

from __future__ import annotations

import itertools


def live(regions, row):
    """The regions that live after a request: (begin, end, size, borrower) with begin <= request < end."""
    return [it for it in regions if it[0] <= row < it[1]]


def least_of_a_moment(loads, sizes, gbps, lends):
    """The least reading of so many bytes of each card: each byte takes the cheapest shift along any chain of cards.

    One byte after another is laid on the cards, and for each the cheapest chain of moves is looked for (Bellman and
    Ford): a byte of a borrower to a card, one of another borrower on from there, and so on to a card with room.
    """
    cards = range(len(sizes))
    lies = {(b, c): 0 for b in cards for c in cards}
    for borrower, load in enumerate(loads):
        for _ in range(load):
            if not _lay(lies, borrower, sizes, gbps, lends):
                return float("inf")
    return sum(count / gbps[c][b] for (b, c), count in lies.items() if count and b != c)


def _cost(b, c, sizes, gbps, lends):
    if b == c:
        return 0.0
    return 1 / gbps[c][b] if lends[c] and gbps[c][b] > 0 else float("inf")


def _lay(lies, borrower, sizes, gbps, lends):
    cards = range(len(sizes))
    away = {c: _cost(borrower, c, sizes, gbps, lends) for c in cards}
    came = {c: [(borrower, None, c)] for c in cards}
    for _ in cards:
        for b, c, d in itertools.product(cards, cards, cards):
            shift = _cost(b, d, sizes, gbps, lends) - _cost(b, c, sizes, gbps, lends) if lies[b, c] else float("inf")
            if away[c] + shift < away[d] - 1e-12:
                away[d], came[d] = away[c] + shift, [*came[c], (b, c, d)]
    held = {c: sum(lies[b, c] for b in cards) for c in cards}
    ends = [c for c in cards if held[c] < sizes[c] and away[c] < float("inf")]
    if not ends:
        return False
    for b, c, d in came[min(ends, key=lambda c: away[c])]:
        lies[b, d] += 1
        if c is not None:
            lies[b, c] -= 1
    return True


def moving(times, regions, sizes, gbps, lends):
    """The mean over time of the least of every moment, infinite where one does not fit."""
    total = 0.0
    for row, time in enumerate(times):
        loads = [sum(it[2] for it in live(regions, row) if it[3] == card) for card in range(len(sizes))]
        lasts = (times[row + 1] if row + 1 < len(times) else time) - time
        least = least_of_a_moment(loads, sizes, gbps, lends)
        if least == float("inf"):
            return least
        total += least * lasts
    return total / (times[-1] - times[0])


def whole(times, regions, sizes, gbps, lends):
    """The least of all ways to lay each region on one card for its whole life."""
    cards, best = range(len(sizes)), float("inf")
    for chosen in itertools.product(cards, repeat=len(regions)):
        cost = 0.0
        for (begin, end, size, borrower), card in zip(regions, chosen):
            until = times[end] if end < len(times) else times[-1]
            each = _cost(borrower, card, sizes, gbps, lends)
            cost += size * each * (until - times[begin]) if each < float("inf") else float("inf")
        for row in range(len(times)):
            held = [0 for _ in cards]
            for region, card in zip(regions, chosen):
                if region in live(regions, row):
                    held[card] += region[2]
            if any(load > size for load, size in zip(held, sizes)):
                cost = float("inf")
        best = min(best, cost)
    return best / (times[-1] - times[0])


def fits(loads, sizes, gbps, lends):
    """Whether loads have a place: bytes are laid one by one, those that lie being moved on where need be."""
    return least_of_a_moment(loads, sizes, gbps, lends) < float("inf")


def in_order(times, regions, sizes, gbps, lends):
    """Which regions are granted where each is taken if it fits beside all that were taken before and live."""
    taken = []
    for region in regions:
        here = [*[it for it in taken if it is not None and it[0] <= region[0] < it[1]], region]
        loads = [sum(it[2] for it in here if it[3] == card) for card in range(len(sizes))]
        taken.append(region if fits(loads, sizes, gbps, lends) else None)
    return [it is not None for it in taken]


def most(times, regions, sizes, gbps, lends, worth):
    """The most worth of any set of whole regions that fits at every moment."""
    best = 0
    for chosen in itertools.product((False, True), repeat=len(regions)):
        kept = [it for it, has in zip(regions, chosen) if has]
        loads = [
            [sum(it[2] for it in live(kept, row) if it[3] == card) for card in range(len(sizes))]
            for row in range(len(times))
        ]
        if all(fits(load, sizes, gbps, lends) for load in loads):
            best = max(best, sum(worth(it) for it in kept))
    return best / max(sum(worth(it) for it in regions), 1)
