"""Which lines of a program hold more memory after every step, and at which step the card was full.

A step is the stretch of a history that repeats. Its mark is a place of the program that asks once a step: the state
right before each of its allocations is compared with the state before the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.advice.torch_memory.lives import BlockLives, Lives, live_bytes
from workbench.number_text import bytes_said
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED, AllocatorLog

FEWEST = 8
"""Marks that a history must hold: fewer do not tell growth from a warm-up."""
ALIKE = 0.8
"""The share of its allocations that a step must have in common with the typical step."""
NEARLY = 0.9
"""Of marks that cover so much of what the best one covers, the one with the most steps counts."""
FALLING = 0.1
"""The share of all freed bytes by which live bytes may fall from mark to mark; within a loop over layers they do."""
CLASS = 1.05
"""Places that ask equally often, to 5 %, mark the same loop: the earliest of them is tried."""
MOST_CLASSES, MOST_MARKS = 24, 256
"""Loops that are tried, and marks at which lines are measured, at most."""
LEAST_SHARE = 0.001
"""Growth over the history that is told, as a share of the most bytes live at a time."""
INSIDE = frozenset({"forward", "_call_impl", "_apply", "load_state_dict", "from_pretrained"})
OPTIMIZER = "optim/"
"""Functions, and the folder of PyTorch's optimizers: all that one call of them asks for is within one step."""
TAIL = 2
"""Long stretches after the last mark up to which the steps go on until the end of the history."""
NO_STACK, BEFORE = "(no stack recorded)", "(live before the recording)"


class Phases(NamedTuple):
    """The steps of a history."""

    name: str
    """The place that asks once a step, first of all such places."""
    marks: np.ndarray
    """int64[marks], how many events come before each of its allocations."""
    steady: int
    """The first mark that begins a step like the others."""
    allocations: int
    """Allocations of a typical step."""


class LineGrowth(NamedTuple):
    """What a line of the program holds more from step to step."""

    name: str
    bytes_a_step: int
    """Over the second half of the steps."""
    bytes: int
    """From the first step like the others to the last mark."""


class Growth(NamedTuple):
    """What grows from step to step on one card."""

    phases: Phases
    bytes_a_step: int
    """All lines together."""
    lines: tuple[LineGrowth, ...]
    """Those that grow, the fastest first."""
    failed_step: int | None
    """The step in which the card ran out of memory, the first is 1; None = it did not."""

    @property
    def steps(self) -> int:
        """Return the number of steps that begin in the history."""
        return len(self.phases.marks)

    def step_of(self, room_bytes: int) -> int:
        """Return the step at which so many more bytes are full, if it goes on like this."""
        return self.steps + -(-max(room_bytes, 0) // self.bytes_a_step)


def growth_of(lives: Lives, log: AllocatorLog, failed: int | None = None) -> Growth | None:
    """Return the growth from step to step; None where nothing grows, or no step repeats often enough.

    The rule. A place of the program marks the steps if the stretches between its allocations have most allocations in
    common, by stack. These stretches go on until the end of the history. Memory is freed in them, and live bytes do not
    fall from mark to mark. Something in them is requested outside a module's `forward` and an optimizer, so that a loop
    over layers or parameters is no step. If several places mark steps, those that cover most count; of those that cover
    about as much, the shortest.

    Live bytes at the marks are cut into four quarters, and the least value of each is taken. Memory grows if each
    quarter adds at least half of what a quarter adds on average, and the last eighth half of that again. So a warm-up,
    weights that are built once, and a cache that fills up do not grow. All lines together must grow, then the lines
    that do are named.

    Parameters
    ----------
    lives : Lives
        Of `lives_of`.
    log : AllocatorLog
        The history that the lives are of.
    failed : int, optional
        The event at which the card ran out of memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.advice.torch_memory.snapshot import card_histories
    >>> (card,) = card_histories("data/made_up_snapshot.pickle.gz")
    >>> growth_of(card.lives, card.log) is None
    True
    """
    phases = phases_of(lives, log)
    if phases is None:
        return None
    marks = phases.marks[phases.steady :]
    chosen = np.unique(np.linspace(0, len(marks) - 1, min(len(marks), MOST_MARKS)).astype(np.int64))
    names, group = line_groups(lives.blocks, log)
    held = held_at(lives.blocks, group, len(names), marks[chosen])
    total = held.sum(axis=0)
    if not _grows(total):
        return None
    rate = _rate(total, chosen)
    if rate <= 0 or total[-1] - total[0] < LEAST_SHARE * _peak(lives):
        return None
    lines = [
        LineGrowth(name, _rate(row, chosen), int(row[-1] - row[0]))
        for name, row in zip(names, held, strict=True)
        if _grows(row)
    ]
    lines.sort(key=lambda it: (-it.bytes_a_step, it.name))
    step = None if failed is None else _step_of(phases, log, failed)
    return Growth(phases, rate, tuple(it for it in lines if it.bytes_a_step > 0), step) if lines else None


def _step_of(phases: Phases, log: AllocatorLog, event: int) -> int:
    """Return the step that an event is in; a request at the mark that was refused begins a step of its own."""
    events, mark = log.events, int(phases.marks[0])
    begins = events.site[event] == events.site[mark]
    if events.site[mark] < 0:
        begins = events.size[event] == events.size[mark]
    return int(np.searchsorted(phases.marks, event)) + int(begins)


def growth_sentence(growth: Growth, is_whole: bool = True) -> str:
    """Return the growth, and the step at which memory ran out, in one sentence.

    Parameters
    ----------
    is_whole : bool
        Whether the history begins with the program.
    """
    first, rest = growth.lines[0], growth.lines[1:]
    more = f"{len(rest)} other line{'s' if len(rest) > 1 else ''}" if rest else ""
    others = f", all lines by {bytes_said(growth.bytes_a_step)} ({more} too)" if rest else ""
    of = "" if is_whole else " of the recording"
    out = f", out of memory at step {growth.failed_step:,}{of}" if growth.failed_step else ""
    return f"{first.name} grows by {bytes_said(first.bytes_a_step)} a step{others}{out}."


def step_sentence(growth: Growth) -> str:
    """Return the name of a step."""
    phases = growth.phases
    return (
        f"A step goes from one allocation at {phases.name} to the next: {growth.steps:,} begin in the history, each "
        f"with about {phases.allocations:,} allocations."
    )


def plain_growth(growth: Growth) -> dict[str, Any]:
    """Return the growth as plain types, for `--json`."""
    return {
        "bytes_a_step": growth.bytes_a_step,
        "steps": growth.steps,
        "failed_step": growth.failed_step,
        "step_begins_at": growth.phases.name,
        "allocations_a_step": growth.phases.allocations,
        "lines": [line._asdict() for line in growth.lines],
    }


def phases_of(lives: Lives, log: AllocatorLog) -> Phases | None:
    """Return the steps of a history by the rule of `growth_of`; None where nothing repeats often enough."""
    events = log.events
    requests = np.flatnonzero(events.action == ALLOC)
    if len(requests) < 2 * FEWEST:
        return None
    key = _keys(events.site[requests].astype(np.int64), events.size[requests], len(log.sites))
    live = live_bytes(lives)
    freed = np.concatenate([[0], np.cumsum(np.where(events.action == FREE_COMPLETED, events.size, 0))])
    outside = _outside(log, events.site[requests])
    rows: list[tuple[int, int, Phases]] = []
    for chosen in _candidates(key):
        at = np.flatnonzero(key == chosen)
        alike, typical = _alike(key, at)
        if not len(alike):
            continue
        covered = int(np.diff(at)[alike].sum())
        marks = requests[at]
        if not _goes_on(at, len(key)) or not _frees(marks, alike, freed):
            continue
        if not (np.diff(np.append(0, np.cumsum(outside))[at])[alike] > 0).mean() >= ALIKE:
            continue
        if _falls(live[marks]) > FALLING * max(int(freed[marks[-1]] - freed[marks[0]]), 1):
            continue
        name = _place_name(log, int(events.site[marks[0]]), int(events.size[marks[0]]))
        rows.append((covered, len(at), Phases(name, marks, int(alike[0]), typical)))
    most = max((covered for covered, _, _ in rows), default=0)
    near = [it for it in rows if it[0] >= NEARLY * most]
    return max(near, key=lambda it: (it[1], -it[2].marks[0]))[2] if near else None


def line_groups(blocks: BlockLives, log: AllocatorLog) -> tuple[list[str], np.ndarray]:
    """Return the lines that requested blocks, and which of them each block has: int64[blocks].

    If no block has a stack, blocks of one size are a line.
    """
    names: dict[str, int] = {}
    if not (blocks.site >= 0).any():
        sizes, group = np.unique(blocks.size, return_inverse=True)
        return [f"{NO_STACK} blocks of {bytes_said(int(size))}" for size in sizes.tolist()], group.astype(np.int64)
    numbers = np.array([names.setdefault(name, len(names)) for name in (*log.sites, NO_STACK, BEFORE)], np.int64)
    place = np.where(blocks.site >= 0, blocks.site, len(log.sites) + (blocks.born == 0))
    return list(names), numbers[place]


def held_at(blocks: BlockLives, group: np.ndarray, groups: int, moments: np.ndarray) -> np.ndarray:
    """Return the live bytes of each group of blocks at rising moments: int64[groups, moments].

    A moment is a number of events; a block is live if it was born by then and is not gone.
    """
    change = np.zeros((groups, len(moments) + 1), np.int64)
    np.add.at(change, (group, np.searchsorted(moments, blocks.born)), blocks.size)
    np.add.at(change, (group, np.searchsorted(moments, blocks.gone)), -blocks.size)
    result: np.ndarray = np.cumsum(change, axis=1)[:, :-1]
    return result


def _keys(site: np.ndarray, size: np.ndarray, sites: int) -> np.ndarray:
    """Return a small number for each place of the program, and for each size of what no stack tells."""
    key = np.where(site >= 0, site, sites + size)
    result: np.ndarray = np.unique(key, return_inverse=True)[1]
    return result


def _candidates(key: np.ndarray) -> list[int]:
    """Return one place of each group of places that ask equally often: the earliest of those that ask the longest."""
    count = np.bincount(key)
    places = np.arange(len(key))
    first, last = np.full(len(count), len(key)), np.zeros(len(count), np.int64)
    np.minimum.at(first, key, places)
    np.maximum.at(last, key, places)
    groups: dict[int, list[int]] = {}
    for place in np.flatnonzero(count >= FEWEST).tolist():
        groups.setdefault(round(np.log(count[place]) / np.log(CLASS)), []).append(place)
    largest = sorted(groups.values(), key=len, reverse=True)[:MOST_CLASSES]
    result = []
    for group in largest:
        spread = max(int(last[it] - first[it]) for it in group)
        result.append(min((it for it in group if last[it] - first[it] >= NEARLY * spread), key=lambda it: first[it]))
    return result


def _alike(key: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the stretches between marks that are like the typical one, and the number of allocations that it has."""
    steps = len(at) - 1
    inside = key[at[0] : at[-1]]
    step = np.repeat(np.arange(steps), np.diff(at))
    pairs, count = np.unique(inside * steps + step, return_counts=True)
    place, of = pairs // steps, pairs % steps
    order = np.lexsort((count, place))
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    absent = steps - np.diff(np.append(starts, len(order)))
    middle = steps // 2 - absent
    median = np.where(middle < 0, 0, count[order][starts + np.maximum(middle, 0)])
    typical = np.zeros(int(key.max()) + 1, np.int64)
    typical[place[order][starts]] = median
    common = np.bincount(of, np.minimum(count, typical[place]), steps)
    whole = np.diff(at) + int(median.sum()) - common
    alike = np.flatnonzero(common >= ALIKE * whole)
    return (alike if len(alike) >= FEWEST - 1 else alike[:0]), int(median.sum())


def _goes_on(at: np.ndarray, allocations: int) -> bool:
    """Return whether steps go on until the end; one long stretch alone may be such an end, and does not count."""
    tail, longest = allocations - int(at[-1]), int(np.sort(np.diff(at))[-2])
    return tail <= TAIL * longest


def _frees(marks: np.ndarray, alike: np.ndarray, freed: np.ndarray) -> bool:
    """Return whether memory is freed in nearly every step; weights that are built one by one free nothing."""
    in_step = np.diff(freed[marks])[alike] > 0
    return bool(in_step.mean() >= ALIKE)


def _outside(log: AllocatorLog, site: np.ndarray) -> np.ndarray:
    """Return the allocations that are requested outside a call of a module or an optimizer; one without a stack is not,
    unless none has one: bool[allocations]."""
    within = [
        any(frame.startswith(OPTIMIZER) or frame.rpartition(" ")[2] in INSIDE for frame in (*stack, *callers))
        for stack, callers in zip(log.stacks, log.callers, strict=True)
    ]
    result: np.ndarray = ~np.array([*within, bool((site >= 0).any())])[site]
    return result


def _falls(live: np.ndarray) -> int:
    return int(-np.minimum(np.diff(live), 0).sum())


def _peak(lives: Lives) -> int:
    return int(live_bytes(lives).max())


def _grows(values: np.ndarray) -> bool:
    """Return whether each quarter of the values adds at least half of what quarters add on average, and the last eighth
    a quarter of that.

    >>> [_grows(np.array(it)) for it in ([1, 2, 3, 4, 5, 6, 7, 8], [1, 5, 6, 8, 8, 8, 8, 8], [1, 2, 3, 4, 5, 6, 7, 7])]
    [True, False, False]
    """
    least = [int(quarter.min()) for quarter in np.array_split(values, 4)]
    rises = np.diff(least)
    mean, late = float(rises.mean()), int(values[-(len(values) // 8) :].min()) - least[-1]
    return bool(mean > 0 and (rises >= mean / 2).all() and late >= mean / 4)


def _rate(values: np.ndarray, mark: np.ndarray) -> int:
    """Return the bytes that a step adds in the second half of the values."""
    middle = len(values) // 2
    return round(int(values[-1] - values[middle]) / max(int(mark[-1] - mark[middle]), 1))


def _place_name(log: AllocatorLog, site: int, size: int) -> str:
    return log.sites[site] if site >= 0 else f"{NO_STACK} for {bytes_said(size)}"


def growing_curves(lives: Lives, log: AllocatorLog, growth: Growth, points: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the live bytes of each line that grows, at so many events evenly over the history, by its name."""
    names, group = line_groups(lives.blocks, log)
    held = held_at(lives.blocks, group, len(names), np.linspace(0, lives.events, points).astype(np.int64))
    for line in growth.lines:
        yield line.name, held[names.index(line.name)]
