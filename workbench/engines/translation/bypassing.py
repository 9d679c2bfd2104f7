"""Entries of the shared TLB that are predicted dead are not made (docs/translation-rules.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import Run

NO_TAG: Any = np.int64(-1)


@kernel
def _counter_of(run: Run, tag: int) -> int:
    """Return the counter of a tag's region."""
    return (tag // run.rules.dead_region) % run.state.dead_counts.size


@noinline
def is_bypassed(run: Run, tag: int) -> bool:
    """Return whether the entry of a tag is predicted dead; it is counted and remembered then."""
    state = run.state
    if state.dead_counts[_counter_of(run, tag)] < run.rules.dead_threshold:
        return False
    state.counters[COUNT.bypassed_entries] += 1
    size = state.bypassed.size
    if size > 0:
        place = _place_of(run, tag)
        for at in range(max(place, 0), size - 1):
            state.bypassed[at] = state.bypassed[at + 1]
        state.bypassed[size - 1] = tag
    return True


@kernel
def _place_of(run: Run, tag: int) -> int:
    """Return where a tag stands among those remembered, the newest last; -1 = nowhere."""
    for at in range(run.state.bypassed.size):
        if run.state.bypassed[at] == tag:
            return at
    return -1


@noinline
def is_missed(run: Run, tag: int) -> None:
    """Learn from a tag that the shared TLB does not hold: it was bypassed wrongly where it is remembered."""
    state, place = run.state, _place_of(run, tag)
    if place >= 0:
        for at in range(place, 0, -1):
            state.bypassed[at] = state.bypassed[at - 1]
        state.bypassed[0] = NO_TAG
        state.dead_counts[_counter_of(run, tag)] = 0


@noinline
def is_evicted(run: Run, tag: int, entry: int) -> None:
    """Learn from an entry of the shared TLB that makes room."""
    state, counter = run.state, _counter_of(run, tag)
    if state.entry_used[entry]:
        state.dead_counts[counter] = 0
    else:
        state.dead_counts[counter] = min(state.dead_counts[counter] + 1, run.rules.dead_threshold)
