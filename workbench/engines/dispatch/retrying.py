"""Which refusals at allocation are worth another try? Those after which a placement remembers something else (E18).

A placement answers by the free map, the length and what it remembers. One that remembers nothing else after it refused
would refuse again, so its offer waits until the module changes. One that drew, or was told of grants that were taken
back, has moved on and may grant what it refused: the offer tries other modules first, and where nothing fits in any
more at the beginning of a round, all modules at which a placement has moved on are open to it again.
"""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.dispatch.fitting import module_changed
from workbench.engines.dispatch.selecting import anything_fits
from workbench.engines.dispatch.shape import OWN, Rules, Shape
from workbench.engines.dispatch.state import COUNT, State


@kernel
def _map_of(shape: Shape, module: int, position: int) -> int:
    """Return the row of the free map at a position of the module's ranges."""
    unit, resource = shape.ranges[position, 0], shape.ranges[position, 1]
    return int(shape.first_map[resource] + (module if unit == OWN else module * shape.units + unit))


@noinline
def keep_memories(shape: Shape, state: State, module: int) -> None:
    """Write down what the placements remember of a module's maps before it is asked for ranges."""
    for position in range(shape.ranges.shape[0]):
        row = _map_of(shape, module, position)
        for slot in range(shape.remembers[shape.ranges[position, 1]]):
            state.before[position, slot] = state.memory[row, slot]


@noinline
def note_refusal(shape: Shape, state: State, module: int) -> None:
    """Note the module after a refusal if a placement remembers something else of it than before."""
    moved = False
    for position in range(shape.ranges.shape[0]):
        row = _map_of(shape, module, position)
        for slot in range(shape.remembers[shape.ranges[position, 1]]):
            moved |= state.before[position, slot] != state.memory[row, slot]
    if moved and not state.moved[module]:
        state.moved[module] = True
        state.counters[COUNT.moved] += 1


@kernel
def open_again(rules: Rules, state: State) -> bool:
    """Lift the bans of the modules whose placements have moved on, where nothing fits; False if there are none."""
    return state.counters[COUNT.moved] > 0 and _open_moved(rules, state)


@noinline
def _open_moved(rules: Rules, state: State) -> bool:
    if anything_fits(rules, state):
        return False
    for module in range(state.moved.size):
        if state.moved[module]:
            module_changed(state, module)
    return True
