"""Whether an entry fits a module by what is free there now, not by what was reported (spec 7, R12, R22)."""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.channels import shared_out
from workbench.engines.dispatch.state import Play
from workbench.engines.dispatch.subgroups import group_of, of_module
from workbench.engines.kit.faults import FINE, STOP
from workbench.structures.bitmaps import count_free, longest_run


@noinline
def fits_now(play: Play, entry: int, module: int, now: int) -> bool:
    """Return whether every unit, and the module, has what the entry takes; its waves are in `counts` afterwards."""
    shape, columns, rules, state = play.shape, play.columns, play.rules, play.state
    shared_out(shape, columns, play.policies, state, entry, module, now)
    if state.counters[STOP.fault] != FINE:
        return False
    group, largest = group_of(columns, state, entry), shape.footprint.shape[1] - 1
    for h in range(shape.blocks.size):
        contiguous = shape.first_map[h] >= 0
        wave_by_wave = rules.a_block_a_wave and contiguous
        for t in range(shape.units if h < shape.of_unit else 1):
            size, ranges = of_module(shape, columns, state, entry, h), 1
            if h < shape.of_unit:
                waves = state.counts[t]
                ranges = waves if wave_by_wave else 1
                size = columns.demand[group, h] * (min(waves, 1) if wave_by_wave else waves)
            copy = module * shape.units + t if h < shape.of_unit else module
            taken = shape.footprint[h, min(size, largest)]
            if taken * ranges > state.free_count[h, copy]:
                return False
            # One range at least has space. Whether several do, the placement decides when they are taken.
            if contiguous and taken > _run(play, h, copy):
                return False
    return True


@inlined
def _run(play: Play, resource: int, copy: int) -> int:
    """Return the longest run of a map; of a scattered resource, how many blocks are free."""
    shape, state = play.shape, play.state
    words = state.free[shape.first_map[resource] + copy][: shape.words[resource]]
    return count_free(words) if shape.scattered[resource] else longest_run(words)
