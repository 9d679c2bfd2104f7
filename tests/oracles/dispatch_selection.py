"""Slow, obvious twins of the priorities, selections and policies for stuck groups, from the sentences of spec 3.

A selection's twin is asked `pick(cycle, heads)` for the heads of the channels in their order and answers with one of
them, or None for nobody. Chance comes from a `Dice` that rolls as Marsaglia wrote it down. Nothing here comes from the
workbench.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Waiting(NamedTuple):
    channel: int
    priority: int
    rank: int
    fits: bool
    waited: int
    waves: int


class Dice:
    """xorshift64 with the triple (13, 7, 17); a roll keeps as many upper bits as the count needs, or rolls again."""

    def __init__(self, state: int) -> None:
        self.state = state % 2**64

    def roll(self, count: int) -> int:
        if count == 1:
            return 0
        bits = (count - 1).bit_length()
        while True:
            self.state ^= self.state << 13 & (2**64 - 1)
            self.state ^= self.state >> 7
            self.state ^= self.state << 17 & (2**64 - 1)
            drawn = self.state >> (64 - bits)
            if drawn < count:
                return drawn


# --- selections ------------------------------------------------------------------------------------------------------


def competing(heads: list[Waiting], among: str) -> list[Waiting]:
    """Those that fit; with "best_rank" only the most urgent of them."""
    fitting = [h for h in heads if h.fits]
    best = min(h.rank for h in fitting)
    return fitting if among == "all_that_fit" else [h for h in fitting if h.rank == best]


class StrictBlocking:
    """R15: serve the most urgent first; if it cannot be placed, nothing is dispatched."""

    def __init__(self, equals="oldest"):
        self.equals = equals

    def pick(self, cycle, heads):
        urgent = [h for h in heads if h.rank == min(h.rank for h in heads) and h.fits]
        if not urgent:
            return None
        if self.equals == "lowest":
            return urgent[0]
        return sorted(urgent, key=lambda h: (-h.waited, h.channel))[0]


class StrictPriority:
    def pick(self, cycle, heads):
        return sorted(competing(heads, "best_rank"), key=lambda h: h.channel)[0]


class LowestChannel:
    def pick(self, cycle, heads):
        return sorted(competing(heads, "all_that_fit"), key=lambda h: h.channel)[0]


class OldestFirst:
    def __init__(self, among="best_rank"):
        self.among = among

    def pick(self, cycle, heads):
        oldest = max(h.waited for h in competing(heads, self.among))
        return next(h for h in competing(heads, self.among) if h.waited == oldest)


class PlainRandom:
    def __init__(self, dice, among="best_rank"):
        self.dice, self.among = dice, among

    def pick(self, cycle, heads):
        hat = competing(heads, self.among)
        return hat[self.dice.roll(len(hat))]


class ServedMarks:
    """R7-R11: A4, A41, A42, with the parameters of E2 and E3."""

    def __init__(self, dice=None, mark_on_single=False, clear_scope="candidates"):
        self.dice, self.mark_on_single, self.clear_scope = dice, mark_on_single, clear_scope
        self.marks: set[tuple[int, int]] = set()

    def one_of(self, some):
        return some[self.dice.roll(len(some))] if self.dice else some[0]

    def pick(self, cycle, heads):
        top = competing(heads, "best_rank")
        if len(top) == 1:  # R9
            if self.mark_on_single:
                self.marks.add((top[0].channel, top[0].priority))
            return top[0]
        without = [h for h in top if (h.channel, h.priority) not in self.marks]
        if without:  # R10: choose one at random and set its mark
            chosen = self.one_of(without)
            self.marks.add((chosen.channel, chosen.priority))
            return chosen
        chosen = self.one_of(top)  # R10: one of all of them, keep its mark, clear the others'
        if self.clear_scope == "candidates":
            self.marks -= {(h.channel, h.priority) for h in top if h != chosen}
        else:
            these = {h.priority for h in top}
            self.marks = {(c, p) for c, p in self.marks if c == chosen.channel or p not in these}
        return chosen


def in_turn(among: list[Waiting], last: int) -> list[Waiting]:
    """Cyclic order: the channels behind the last one, then those before it, the last one itself at the end."""
    return [h for h in among if h.channel > last] + [h for h in among if h.channel <= last]


class ChannelRoundRobin:
    def __init__(self, among="best_rank"):
        self.among, self.last = among, -1

    def pick(self, cycle, heads):
        chosen = in_turn(competing(heads, self.among), self.last)[0]
        self.last = chosen.channel
        return chosen


class WeightedRoundRobin:
    """Each turn of a channel is a purse with as many coins as its weight; a turn that cannot go on is over."""

    def __init__(self, weights=None, among="best_rank"):
        self.weights, self.among, self.turn, self.purse = weights, among, -1, 0

    def pick(self, cycle, heads):
        among = competing(heads, self.among)
        going_on = [h for h in among if h.channel == self.turn and self.purse > 0]
        if going_on:
            chosen = going_on[0]
        else:
            chosen = in_turn(among, self.turn)[0]
            self.turn, self.purse = chosen.channel, self.weights[chosen.channel] if self.weights else 1
        self.purse -= 1
        return chosen


class DeficitRoundRobin:
    """Go round; a quantum into the purse of everyone who is visited; who can pay is served and goes on while it can."""

    def __init__(self, channels, quantum, among="best_rank"):
        self.quantum, self.among, self.at, self.purse = quantum, among, -1, [0] * channels

    def pick(self, cycle, heads):
        among = competing(heads, self.among)
        here = [h for h in among if h.channel == self.at and self.purse[h.channel] >= h.waves]
        while not here:
            visited = in_turn(among, self.at)[0]
            self.at = visited.channel
            self.purse[self.at] += self.quantum
            here = [visited] if self.purse[self.at] >= visited.waves else []
        self.purse[self.at] -= here[0].waves
        waiting = {h.channel for h in heads}
        self.purse = [coins if c in waiting else 0 for c, coins in enumerate(self.purse)]
        return here[0]


class Lottery:
    def __init__(self, dice, tickets=None, among="best_rank"):
        self.dice, self.tickets, self.among = dice, tickets, among

    def pick(self, cycle, heads):
        hat = [h for h in competing(heads, self.among) for _ in range(self.tickets[h.channel] if self.tickets else 1)]
        return hat[self.dice.roll(len(hat))]


class Stride:
    """The smallest pass goes first and moves on by 1 / tickets; who does not wait moves along with who is served."""

    def __init__(self, tickets, among="best_rank"):
        self.tickets, self.among, self.passed = tickets, among, [Fraction(0)] * len(tickets)

    def pick(self, cycle, heads):
        among = competing(heads, self.among)
        chosen = sorted(among, key=lambda h: (self.passed[h.channel], h.channel))[0]
        now, waiting = self.passed[chosen.channel], {h.channel for h in heads}
        self.passed = [at if c in waiting else max(at, now) for c, at in enumerate(self.passed)]
        self.passed[chosen.channel] = now + Fraction(1, self.tickets[chosen.channel])
        return chosen


class MultilevelFeedback:
    def __init__(self, channels, queues, quantum, boost_cycles, among="best_rank"):
        self.queues, self.quantum, self.boost_cycles, self.among = queues, quantum, boost_cycles, among
        self.channels, self.last, self.seen = channels, -1, 0
        self.reset()

    def reset(self):
        self.queue, self.used = [0] * self.channels, [0] * self.channels

    def pick(self, cycle, heads):
        boosts = len(range(self.boost_cycles, cycle + 1, self.boost_cycles)) if self.boost_cycles else 0
        if boosts != self.seen:
            self.reset()
            self.seen = boosts
        among = competing(heads, self.among)
        first = min(self.queue[h.channel] for h in among)
        chosen = in_turn([h for h in among if self.queue[h.channel] == first], self.last)[0]
        self.last = c = chosen.channel
        self.used[c] += chosen.waves
        if self.used[c] >= self.quantum * 2 ** self.queue[c]:
            self.queue[c], self.used[c] = min(self.queue[c] + 1, self.queues - 1), 0
        return chosen


class SameChannel:
    def __init__(self, blocks=False):
        self.blocks, self.last = blocks, -1

    def pick(self, cycle, heads):
        mine = [h for h in heads if h.channel == self.last]
        if mine and mine[0].fits:
            return mine[0]
        if mine and self.blocks:
            return None
        chosen = in_turn(competing(heads, "all_that_fit"), self.last)[0]
        self.last = chosen.channel
        return chosen


# --- priorities ------------------------------------------------------------------------------------------------------


def windows_order(lengths: list[int], cycle: int, levels: int) -> list[int]:
    """R16-R18: write the period down cycle by cycle; whose cycle it is goes to the top, the others stay in order."""
    raised = [y + 1 for y, length in enumerate(lengths) for _ in range(length)]
    top = raised[cycle % len(raised)]
    others = [p for p in range(1, levels + 1) if p != top]
    return [top, *others] if top <= levels else others


def aged(priority: int, arrival: int, cycle: int, step: int, above_highest: bool) -> int:
    """Look at every cycle since the arrival; at a multiple of the step the group rises by one."""
    for t in range(arrival + 1, cycle + 1):
        if t % step == 0 and (priority > 1 or above_highest):
            priority -= 1
    return priority


def deadline(priority: int, arrival: int, slacks: list[int], step: int) -> int:
    """The arrival and the slack; a level behind the list has a step more than the last one of the list."""
    if not slacks:
        return arrival + priority * step
    return arrival + (slacks[priority - 1] if priority <= len(slacks) else slacks[-1] + step)


def first_change(rank, pairs: list[tuple[int, int]], cycle: int, horizon: int) -> int | None:
    """The first later cycle at which two waiting groups (priority, arrival) stand otherwise; None = not so soon."""

    def stands(t: int) -> list[int]:
        ranks = [rank(t, priority, t - arrival) for priority, arrival in pairs]
        return [(one > other) - (one < other) for one in ranks for other in ranks]

    now = stands(cycle)
    return next((t for t in range(cycle + 1, cycle + horizon) if stands(t) != now), None)


# --- stuck groups ----------------------------------------------------------------------------------------------------


def shared_out(waves: int, parts: int) -> list[int]:
    """Waves dealt out to the sub-groups one at a time."""
    return [len(range(k, waves, parts)) for k in range(parts)]


class FailCounter:
    """R21-R25 with E9-E11: which of the heads are split in each round, for a head (waves, independent)."""

    def __init__(self, threshold: int) -> None:
        self.threshold, self.g = threshold, 0

    def round(self, dispatched: bool, heads: list[tuple[int, int]]) -> list[int]:
        if dispatched:  # E9: any dispatch resets
            self.g = 0
            return []
        self.g = min(self.g + 1, self.threshold + 1)  # E11: saturates
        if not self.g > self.threshold:  # E10: exceeds
            return []
        split = [k for k, (waves, independent) in enumerate(heads) if independent == 1 and waves > 1]
        if split:  # R28: reset after splitting
            self.g = 0
        return split
