"""A run without an end: requests one at a time, each when it comes, by the functions of the engine's own loop.

What the program `workbench.pool_service` grants is therefore what the engine grants, whatever the policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import bound, routine
from workbench.engines.kit import FINE, STOP, given, policy_error, stop_of
from workbench.engines.kit.engine import Setup
from workbench.engines.pool.blocks import from_driver, give, return_to_driver, use
from workbench.engines.pool.engine import Beginning
from workbench.engines.pool.loop import allocate, free
from workbench.engines.pool.options import Slots
from workbench.engines.pool.prepare import answering
from workbench.engines.pool.state import COUNT, FAULT, POOLS, Columns, Policies, Rules, State, Tables, words
from workbench.policies.pool.cache import APART, in_class
from workbench.records.pool import CACHED, STITCHED
from workbench.structures.size_index import ADDRESS, AFTER, FIELDS, NONE, ORIGIN, SIZE

_FIRST_BLOCKS = 1024
_MOST_NEW = 64
"""Blocks that one request may add: halving cuts at most once for each bit of a size."""


class Call(NamedTuple):
    """A driver allocation that was made or given back."""

    card: int
    address: int
    bytes: int
    """Negative for one that was given back."""


class Granted(NamedTuple):
    """Where a region lies."""

    row: int
    """What names it until it is released."""
    card: int
    address: int
    origin: int
    """The address of the driver allocation in which it lies."""
    taken: int
    """Bytes of its block."""
    cached: bool
    """Whether a cached block served it; if not, the driver did."""


RELEASE = 0
"""The row of a release; an allocation has the row above 0 that its region keeps until it is released."""


class LiveBoard:
    """A board whose memory is granted and released while its user waits.

    Parameters
    ----------
    setup : Setup
        The board, the policies and the options; the workload does not matter.
    seed : int
        Names the random streams of the policies.

    Examples
    --------
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> setup = Setup("pool", Board(), None, policies, PoolOptions())
    >>> live = LiveBoard(setup)
    >>> region = live.allocate(1, 96)
    >>> live.free(region.row)
    >>> again = live.allocate(1, 64)
    >>> (region.address, region.cached), (again.address, again.cached), live.cached(1)
    ((0, False), (0, True), 32)

    References
    ----------
    spec 5, R1, E21.
    """

    _run: Run

    def __init__(self, setup: Setup, seed: int = 0) -> None:
        self._case, self._blocks = given(Slots, setup, seed), 0
        checked = not all(policy.built_in for policy in answering(self._case.slots))
        self._begun, cache = Beginning(self._case, checked), self._case.slots.cache.rules()
        self._granule, self._classes = cache.granule, cache.classes
        self._rows: list[int] = []
        """The rows that no region has."""
        self._make_room(_FIRST_BLOCKS)

    def allocate(self, borrower: int, size: int) -> Granted | None:
        """Serve a request of an application on a card; None = no card can (spec 5, R24).

        Raises
        ------
        PolicyError
            A policy raised, or gave an answer that its question does not allow; nothing was granted.
        """
        if self._counters[COUNT.fresh] + _MOST_NEW > self._blocks + self._counters[COUNT.spare]:
            self._make_room(2 * self._blocks)
        row = self._rows[-1]
        rounded = -(-size // self._granule) * self._granule
        self._size[row], self._borrower[row] = size, borrower
        self._need[row] = in_class(rounded, self._classes) if self._classes else rounded
        self._ask(row)
        outcome = self._outcome[row]
        if self._counters[STOP.fault] != FINE:
            self._fail()
        if outcome > STITCHED:
            return None
        self._rows.pop()
        card, address, taken = self._card[row], self._identifier[row], self._taken[row]
        return Granted(row, card, address, self._origin(row), taken, outcome == CACHED)

    def free(self, row: int) -> None:
        """Cache what a row was granted; what is then beyond the idle limit goes back to the driver.

        Raises
        ------
        PolicyError
            The idle policy broke its contract; what was in use is cached all the same.
        """
        self._release(row)
        self._rows.append(row)
        if self._counters[STOP.fault] != FINE:
            self._fail()

    def take_back(self, row: int) -> None:
        """Undo a grant that the driver served: its driver allocation goes back whole."""
        self._undo(row)
        self._rows.append(row)

    def calls(self) -> list[Call]:
        """Return the driver calls of the latest request, in their order."""
        return [Call(*call[1:]) for call in self._state.calls[: self._counters[COUNT.calls]].tolist()]

    def called(self) -> int:
        """Return the number of driver calls of the latest request."""
        return self._counters[COUNT.calls]

    def pool_of(self, size: int) -> int:
        """Return the pool of a card that serves requests of a size: 1 = that of small ones."""
        return int(size <= self._begun.rules.small_most)

    def in_use(self, card: int) -> int:
        """Return the bytes of a card that are in use."""
        return int(self._state.held[card])

    def cached(self, card: int) -> int:
        """Return the bytes of a card that are cached."""
        return int(self._state.cached[card])

    def restore(self, card: int, pool: int, pieces: Sequence[tuple[int, bool]]) -> tuple[int, list[int]]:
        """Take up a driver allocation that was made before this run began.

        Parameters
        ----------
        pieces : sequence of (bytes, whether it is in use)
            What it is cut into, the lowest address first.

        Returns
        -------
        address : int
        rows : list of int
            The row of each piece that is in use, in their order.
        """
        while self._counters[COUNT.fresh] + len(pieces) + _MOST_NEW > self._blocks:
            self._make_room(2 * self._blocks)
        address, blocks = lay_out(self._run, card * POOLS + pool, pieces)
        self._state.grown[card] = 2 * sum(size for size, _ in pieces)
        return address, [self._row_of(card, block) for block in blocks]

    def _row_of(self, card: int, block: int) -> int:
        row = self._rows.pop()
        self._state.block[row], self._card[row] = block, card
        self._taken[row] = self._state.blocks.nodes[block * FIELDS + SIZE]
        return row

    def _origin(self, row: int) -> int:
        nodes = self._nodes
        return nodes[nodes[self._block[row] * FIELDS + ORIGIN] * FIELDS + ADDRESS]

    def _fail(self) -> None:
        stop = stop_of(self._state.counters)
        # The service goes on: the fault is this request's alone.
        self._counters[STOP.fault] = FINE
        raise policy_error(FAULT, self._case.slots, stop, words(self._run.columns, stop))

    def _make_room(self, blocks: int) -> None:
        """Make arrays for so many blocks, with what they held before."""
        time, borrower, size, need = np.zeros((4, blocks), np.int64)
        columns = Columns(time, borrower, size, need, names=np.full(blocks, NONE))
        begun = self._begun
        state = begun.state({"requests": blocks, "lendings": blocks, "blocks": blocks, "calls": 2 * blocks, "moves": 0})
        if self._blocks:
            carry(self._run.columns, columns)
            carry(self._run.state, state)
        self._run = Run(columns, begun.tables, begun.rules, begun.policies, state)
        # Descending, because `pop` takes the last. Row 0 is that of releases.
        fresh = range(blocks - 1, max(self._blocks, RELEASE + 1) - 1, -1)
        self._rows = [*fresh, *self._rows]
        self._blocks = blocks
        self._state = state
        self._ask, self._release = bound(allocate_one, self._run), bound(free_one, self._run)
        self._undo = bound(take_back_one, self._run)
        self._view()

    def _view(self) -> None:
        """Lay out the arrays that each request reads and writes, in a form that plain Python is quick with."""
        columns, state = self._run.columns, self._state
        self._size, self._need, self._borrower = columns.size.data, columns.need.data, columns.borrower.data
        self._counters, self._nodes, self._block = state.counters.data, state.blocks.nodes.data, state.block.data
        self._outcome, self._card, self._identifier = state.outcome.data, state.card.data, state.identifier.data
        self._taken = state.taken.data


def carry(before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
    """Copy the arrays of a tuple into the beginnings of larger ones."""
    for old, new in zip(before, after, strict=True):
        if isinstance(old, np.ndarray):
            new[: len(old)] = old
        elif isinstance(old, tuple):
            carry(old, new)


class Run(NamedTuple):
    """The arrays of a run, as one."""

    columns: Columns
    tables: Tables
    rules: Rules
    policies: Policies
    state: State


@routine
def allocate_one(run: Run, row: int) -> None:
    """Serve the request in a row."""
    state = run.state
    state.counters[COUNT.calls], state.counters[COUNT.lendings] = 0, 0
    state.block[row], state.taken[row] = NONE, 0
    allocate(run.columns, run.tables, run.rules, run.policies, state, row)


@routine
def free_one(run: Run, row: int) -> None:
    """Release what a row was granted."""
    run.state.counters[COUNT.calls] = 0
    run.columns.names[RELEASE] = row
    free(run.columns, run.tables, run.rules, run.policies, run.state, RELEASE)


@routine
def take_back_one(run: Run, row: int) -> None:
    """Undo a grant that the driver served."""
    state = run.state
    block = int(state.block[row])
    origin = int(state.blocks.nodes[block * FIELDS + ORIGIN])
    state.counters[COUNT.calls] = 0
    give(run.rules, state, int(state.pool[origin]), block)
    return_to_driver(run.rules, state, row, origin)


@routine
def segment(run: Run, pool: int, size: int) -> int:
    """Take a new driver allocation; return its one block."""
    run.state.counters[COUNT.calls] = 0
    return from_driver(run.rules, run.state, RELEASE, pool, size)


@routine
def cut(run: Run, pool: int, block: int, size: int, fresh: int) -> None:
    """Put the lower part of a block to use; `fresh` = it was never cached."""
    use(run.rules, run.state, pool, block, size, fresh != 0)


@routine
def uncut(run: Run, pool: int, block: int) -> None:
    """Cache a block that was in use."""
    give(run.rules, run.state, pool, block)


def lay_out(run: Run, pool: int, pieces: Sequence[tuple[int, bool]]) -> tuple[int, list[int]]:
    """Return a driver allocation that is cut already: each piece with its bytes, and whether it is in use.

    Every piece is put to use first, and then those that are not are given back, whatever the cache would do.

    Returns
    -------
    address : int
    blocks : list of int
        Those that are in use, in the order of the pieces.
    """
    plain = run.rules._replace(halves=0, joins=APART, least_rest=1, small_least_rest=1, relative_rest=0)
    run = run._replace(rules=plain)
    part, cache, nodes = bound(cut, run), bound(uncut, run), run.state.blocks.nodes
    first = block = bound(segment, run)(pool, sum(size for size, _ in pieces))
    blocks = []
    for size, _ in pieces:
        part(pool, block, size, block == first)
        blocks.append(block)
        block = int(nodes[block * FIELDS + AFTER])
    for block, (_, in_use) in zip(blocks, pieces, strict=True):
        if not in_use:
            cache(pool, block)
    used = [block for block, (_, in_use) in zip(blocks, pieces, strict=True) if in_use]
    return int(nodes[first * FIELDS + ADDRESS]), used
