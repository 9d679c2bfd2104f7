"""A run before its first request: what the setup determines, and the arrays of a run in which nothing has happened."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.engines.engine import Setup
from workbench.engines.pool.driver import new_driver
from workbench.engines.pool.prepare import blocks_needed, calls_needed, policies_of, rules_of, tables_of
from workbench.engines.pool.state import Columns, Rules, State, new_state
from workbench.streams import Streams
from workbench.structures.size_index import NONE


class Room(NamedTuple):
    """How much a run has room for."""

    requests: int
    allocations: int
    """Of these requests, as lendings are noted."""
    blocks: int
    calls: int
    """Of the driver."""
    moves: int = 0


def room_for(columns: Columns, rules: Rules, moves: int) -> Room:
    """Room for these requests, whatever becomes of them, and for so many moves."""
    allocations = int((columns.names == NONE).sum())
    blocks, calls = blocks_needed(columns, rules, moves), calls_needed(allocations + moves, rules)
    return Room(columns.time.size, allocations, blocks, calls, moves)


class Beginning:
    """What every run of a setup begins with: its board, its levers and its policies as the kernels read them.

    Parameters
    ----------
    setup : Setup
        The board, the policies and the options; the workload does not matter.
    streams : Streams
        What the policies draw from.
    checked : bool
        Test every array index of the policies' compiled answers.

    Examples
    --------
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> begun = Beginning(Setup("pool", Board(), None, policies, PoolOptions()), Streams(0), checked=False)
    >>> state = begun.state(Room(requests=2, allocations=2, blocks=4, calls=4))
    >>> bool((state.physical == begun.tables.capacity).all()), int(state.held.sum())
    (True, 0)

    References
    ----------
    spec 5, sections 2 and 3.
    """

    def __init__(self, setup: Setup, streams: Streams, checked: bool) -> None:
        options: Any = setup.options
        self.paths = setup.machine.paths(options.path_metric, options.max_hops, options.hop_factor)
        self.tables, self.rules = tables_of(setup.machine, self.paths, options), rules_of(setup)
        self.policies, *self._memories = policies_of(setup, streams, checked)
        self._setup, self._streams, self._checked = setup, streams, checked

    def state(self, room: Room) -> State:
        """Nothing is allocated, and the policies remember what they do at the start of a run."""
        driver = new_driver(self._setup, self.tables.capacity, room.blocks, self._streams, self._checked)
        fit, target = (memory.copy() for memory in self._memories)
        requests, allocations, blocks, calls, moves = room
        return new_state(self.tables, requests, allocations, blocks, calls, driver, fit, target, moves)
