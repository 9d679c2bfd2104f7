"""The log of what passes between the parts, a row a message (spec 6, R2)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.node.state import COUNT, Run
from workbench.records.node import KIND, WORDS

__all__ = ["KIND", "WORDS", "tell", "tell_detail"]


@noinline
def tell(
    run: Run, kind: int, card: int, first: int, second: int, one: int = 0, two: int = 0, three: int = 0, four: int = 0
) -> None:
    """Keep a message, where messages are kept."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.messages]
    if at < state.messages.shape[0]:
        row = state.messages[at]
        row[0], row[1], row[2], row[3], row[4] = state.counters[COUNT.now], kind, card, first, second
        row[5], row[6], row[7], row[8] = one, two, three, four
    state.counters[COUNT.messages] += 1


@noinline
def tell_detail(run: Run, number: int) -> None:
    """Keep a number that a message points to."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.details]
    if at < state.details.shape[0]:
        state.details[at, 0] = number
    state.counters[COUNT.details] += 1
