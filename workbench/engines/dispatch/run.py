"""A run of the engine `dispatch`: its arrays by size, the memories of its policies, its free maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.engines.dispatch.channels import VERDICTS, of_one_event
from workbench.engines.dispatch.history import BEHIND
from workbench.engines.dispatch.loop import FITS_NOWHERE
from workbench.engines.dispatch.prepare import Case, classes_of, splits
from workbench.engines.dispatch.setting import Columns, Lot, Rules, Shape
from workbench.engines.dispatch.state import COUNT, NONE, BetweenState, State
from workbench.engines.kit import made
from workbench.engines.kit.columns import sizes_of
from workbench.machine.machine import Resource
from workbench.structures.bitmaps import all_free
from workbench.structures.timetable import NEVER, new_timetable, new_tournament
from workbench.workloads.workload import Groups

NOTHING = made(BetweenState, dict.fromkeys(sizes_of(BetweenState), 0))
"""Where nothing stands between queue and unit: one for all runs, which is never written to."""


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    groups: Groups
    resources: tuple[Resource, ...]
    shape: Shape
    columns: Columns
    history: bool


def new_state(run: Run, columns: Columns, rules: Rules, term_memory: np.ndarray, logs: Mapping[str, int]) -> State:
    """Return the state of a run in which nothing has happened."""
    shape, memory = run.shape, _memories(run)
    sizes = {**_sizes(run, columns, rules), "maps": len(memory), "memory": memory.shape[1]}
    sizes |= {"terms": len(run.given.slots.choice.terms()), "term_slots": term_memory.shape[1]}
    sizes["memories"] = 1 + shape.dies * rules.asks_die
    offers, words = sizes["offers"], sizes["words"]
    fits, fitting, enoughs = (
        np.zeros((offers, words), np.uint64),
        np.zeros(offers, np.int64),
        np.zeros(offers, np.int64),
    )
    slot_link = np.arange(1, sizes["slots"] + 2)
    slot_link[-1] = 0  # the head of the list
    state = made(
        State,
        {**sizes, "owned": len(memory) * int(shape.scattered.any()), **logs},
        # Where ends are requested, a slot may have two entries: the end of its compute and its own end.
        due=new_timetable(sizes["slots"] * (1 + rules.ends_on_request * rules.history) + 1),
        free=_free_maps(shape, len(memory)),
        memory=memory,
        free_count=np.repeat(shape.blocks[:, None], shape.modules * shape.units, axis=1),
        total=np.tile(shape.totals, shape.modules),
        upcoming=columns.first.copy(),
        slot_link=slot_link,
        term_memory=term_memory,
        fits=fits,
        fitting=fitting,
        open=np.zeros_like(fits) if rules.between else fits,
        opens=np.zeros_like(fitting) if rules.between else fitting,
        enoughs=enoughs,
        between=made(BetweenState, sizes | _between_sizes(run, rules, sizes)) if rules.between else NOTHING,
        short_of_runs=np.zeros_like(enoughs) if rules.between else enoughs,
    )
    counters = state.counters
    counters[COUNT.next_arrival] = NONE
    counters[COUNT.fails] = counters[COUNT.failing] = rules.fail_init
    counters[COUNT.next_end] = counters[COUNT.retry] = NEVER
    counters[COUNT.vacant] = 1
    counters[COUNT.stale], counters[COUNT.came_to] = 1, FITS_NOWHERE
    counters[COUNT.span_free] = 0 if state.span.size else NONE
    state.span[:, BEHIND] = [*range(1, len(state.span)), NONE][: len(state.span)]
    if rules.between:
        _count_what_is_to_come(columns, rules, state)
    return state


def _count_what_is_to_come(columns: Columns, rules: Rules, state: State) -> None:
    """Count the waves that barriers, kernels behind others and endless groups wait for."""
    lot, waves = columns.lot, columns.waves
    named = lot.barrier >= 0
    if state.between.barrier_left.size:
        state.between.barrier_left[:] = np.bincount(lot.barrier[named], waves[named], state.between.barrier_left.size)
    if rules.in_order:
        state.between.kernel_left[:] = np.bincount(lot.rank, waves, state.between.kernel_left.size)
    state.counters[COUNT.unended] = waves[~lot.endless].sum()


def _between_sizes(run: Run, rules: Rules, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of what stands between queue and unit: 0 where nothing does."""
    lot, groups = run.columns.lot, run.columns.arrival.size
    clusters = int(np.bincount(_leaders(lot)).max(initial=1)) if rules.clusters else 0
    return {
        "asked": sizes["offers"] * rules.between,
        "lives": sizes["dispatches"] * rules.between,
        "residents": run.shape.modules * rules.between,
        "slots_listed": sizes["slots"] * rules.between,
        "barriers": int(lot.barrier.max(initial=NONE)) + 1,
        "kernels": (int(lot.rank.max(initial=NONE)) + 1) * min(rules.in_order, 1),
        "numbered": (rules.channels + 1) * rules.asks_die,
        "numbered_groups": groups * rules.asks_die,
        "queues": run.shape.modules * min(rules.pending_depth, 1),
        "depth": rules.pending_depth,
        "paced_slots": sizes["slots"] * rules.paced,
        "paced_modules": run.shape.modules * rules.paced,
        "ends": new_tournament(run.shape.modules).size * rules.paced,
        "paces": sizes["changes"] * rules.paced,
        "members": clusters,
        "tried": rules.clusters,
        "dies": run.shape.dies * rules.between,
    }


def _leaders(lot: Lot) -> np.ndarray:
    """Return the first group of the cluster that each group is of."""
    leader = np.arange(lot.beside.size)
    for row in np.flatnonzero(lot.beside >= 0).tolist():  # a group stands before the next one of its cluster
        leader[lot.beside[row]] = leader[row]
    return leader


def _sizes(run: Run, columns: Columns, rules: Rules) -> dict[str, int]:
    """Return the bounds of a run."""
    shape, past = run.shape, run.shape.modules if run.history else 0
    terms = run.given.slots.choice.terms()
    contiguous = shape.first_map >= 0
    parts, dispatches = _most_parts(run), most_dispatches(run)
    running = [shape.modules * shape.totals[h] for h, r in enumerate(run.resources) if r.label == "waves"]
    # Each group that runs holds a wave slot at least, so there are no more of them than wave slots.
    slots = max(min([dispatches, *running]), 1)
    kept = slots if rules.forgets else dispatches
    most_waves = int(columns.waves.max(initial=1)) if rules.a_block_a_wave else shape.units
    of_unit = int(contiguous[: shape.of_unit].sum())
    return {
        "modules": shape.modules,
        "units": shape.units,
        "resources": shape.blocks.size,
        "places": shape.places,
        "ranges": shape.ranges.shape[0],
        "most_blocks": int(shape.blocks[contiguous].max(initial=1)),
        "words": (shape.modules + 63) // 64,
        "pointers": shape.units + 1,
        "channels": rules.channels,
        "offers": rules.channels * rules.offers,
        "groups": columns.arrival.size * (1 - rules.forgets),
        "dispatches": kept,
        # A sub-group may be split again. A tree of w leaves has at most 2w - 2 nodes below its root.
        "parts": 2 * parts,
        "slots": slots,
        "held": most_waves * of_unit + int(contiguous[shape.of_unit :].sum()) + 1,
        "past": past,
        # Start and end; a shared rate may change also when a barrier passes in between.
        "changes": (3 if rules.paced else 2) * dispatches if past else 0,
        "splits": parts,
        "undecided": kept * rules.ends_on_request,
        "answers": (rules.most_answers + of_one_event(rules)) * rules.keeps_answers,
        "verdicts": (VERDICTS + rules.dispatches_a_round + 1) * rules.asks_pages,
        "classes": max(classes_of(term) for term, _ in terms),
        "spans": 0,
        "entering": shape.modules * rules.entered,
        "readers": len(terms) + 2,
    }


def _most_parts(run: Run) -> int:
    """Return the largest number of sub-groups at the end of all splitting."""
    columns = run.columns
    return int(columns.waves[columns.independent].sum()) if splits(run.given) else 0


def most_dispatches(run: Run) -> int:
    """Return the largest number of dispatches: each group, or its parts."""
    return run.columns.arrival.size + _most_parts(run)


def _memories(run: Run) -> np.ndarray:
    """Return the memory of the placement policies of each map at the start: int64[maps, most slots].

    One that draws has a stream of its own for every map.
    """
    shape, streams = run.shape, run.given.streams
    contiguous = np.flatnonzero(shape.first_map >= 0).tolist()
    last = contiguous[-1]
    maps = shape.first_map[last] + _copies(shape, last)
    memory = np.zeros((maps, max(int(shape.remembers[contiguous].max()), 1)), np.int64)
    for h in contiguous:
        resource, copies, first = run.resources[h], _copies(shape, h), shape.first_map[h]
        policy, names = run.given.slots.placement_of(resource), f"placement/{resource.label}"
        rows = memory[first : first + copies, : shape.remembers[h]]
        rows[:] = [
            policy.start_memory(resource.blocks, streams.integer(f"{names}/{k}"))
            for k in range(copies if policy.draws else 1)
        ]
    return memory


def _copies(shape: Shape, resource: int) -> int:
    """Return the number of maps of a resource."""
    return shape.modules * (shape.units if resource < shape.of_unit else 1)


def _free_maps(shape: Shape, maps: int) -> np.ndarray:
    free = np.zeros((maps, int(shape.words[shape.first_map >= 0].max(initial=1))), np.uint64)
    for h in range(shape.blocks.size):
        if shape.first_map[h] >= 0:
            first = shape.first_map[h]
            free[first : first + _copies(shape, h), : shape.words[h]] = all_free(int(shape.blocks[h]))
    return free
