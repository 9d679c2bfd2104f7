"""A run before its first request: what the setup determines, and the arrays of a run in which nothing has happened."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.engines.kit import made
from workbench.engines.pool.driver import new_driver
from workbench.engines.pool.prepare import blocks_needed, calls_needed, policies_of, rules_of, tables_of
from workbench.engines.pool.slots import Case
from workbench.engines.pool.state import POOLS, Columns, Places, Rules, State
from workbench.structures.size_index import NONE, new_size_index


def room_for(columns: Columns, rules: Rules, moves: int) -> dict[str, int]:
    """Return the sizes of a state for these requests, whatever becomes of them, and for so many moves."""
    allocations = int((columns.names == NONE).sum())
    blocks, calls = blocks_needed(columns, rules, moves), calls_needed(allocations + moves, rules)
    lendings, requests = allocations + moves, columns.time.size
    return {"requests": requests, "lendings": lendings, "blocks": blocks, "calls": calls, "moves": moves}


class Beginning:
    """What every run of a setup begins with: its board, its levers and its policies as the kernels read them.

    Parameters
    ----------
    case : Case
        The board, the policies, the options, and what the policies draw from; the workload does not matter.
    checked : bool
        Test every array index of the policies' compiled answers.

    Examples
    --------
    >>> from workbench.engines.engine import Setup
    >>> from workbench.engines.kit import given
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.engines.pool.slots import Slots
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> setup = Setup("pool", Board(), None, policies, PoolOptions())
    >>> begun = Beginning(given(Slots, setup, seed=0), checked=False)
    >>> state = begun.state({"requests": 2, "lendings": 2, "blocks": 4, "calls": 4, "moves": 0})
    >>> bool((state.physical == begun.tables.capacity).all()), int(state.held.sum())
    (True, 0)

    References
    ----------
    spec 5, sections 2 and 3.
    """

    def __init__(self, case: Case, checked: bool) -> None:
        self.paths = case.machine.paths(case.options.path_metric, case.options.max_hops, case.options.hop_factor)
        self.tables, self.rules = tables_of(case.machine, self.paths, case.options), rules_of(case)
        self.policies, *self._memories = policies_of(case, checked)
        self._case, self._checked = case, checked

    def state(self, sizes: Mapping[str, int]) -> State:
        """Return a state in which nothing is allocated, and the policies remember what they do at the start of a
        run."""
        capacity, (fit, target) = self.tables.capacity, (memory.copy() for memory in self._memories)
        driver = new_driver(self._case, capacity, sizes["blocks"], self._checked)
        sizes = {**sizes, "cards": capacity.size, "placed": sizes["requests"] if sizes["moves"] else 0}
        return made(
            State,
            sizes,
            blocks=new_size_index(POOLS * capacity.size, sizes["blocks"]),
            physical=driver.granules * driver.granule if driver.granule else capacity.copy(),
            fit_memory=fit,
            target_memory=target,
            driver=driver,
            places=made(Places, sizes),
        )
