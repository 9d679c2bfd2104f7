"""Is there room for what one event can bring about? A stretch of the loop ends when there is not."""

from __future__ import annotations

from typing import Any

from workbench.compiled import kernel
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import PARKED, TOLD_SIZE, Run
from workbench.structures import event_queue as at


@kernel
def most_events(cores: int) -> int:
    """Return how many events one event can bring about at most, those of waiting misses aside."""
    return 8 * cores + 16


@kernel
def most_answers(cores: int, counters: Any) -> int:
    """Return how many answers one event can bring about at most: for those who joined a miss, for walks that begin, for
    cores that a directory names."""
    return counters[COUNT.parked] + 2 * counters[COUNT.under_way] + cores + 16


@kernel
def has_room(run: Run) -> bool:
    """Return whether the next event, or the next row, finds room for all that it brings about."""
    state, counters = run.state, run.state.counters
    most = most_events(run.rules.cores) + counters[COUNT.parked] * run.rules.keeps_answers
    if state.agenda.counters[at.USED] + counters[COUNT.under_way] + most > state.agenda.link.size:
        return False
    if (counters[COUNT.parked] + 2) * PARKED > state.parking.size:
        return False
    if not run.rules.keeps_answers:
        return True
    answers = counters[COUNT.answered] + most_answers(run.rules.cores, counters)
    return bool(answers * TOLD_SIZE <= state.answers.size)
