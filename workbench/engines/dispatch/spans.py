"""What modules executed as others say it: spans of cycles in which something was executed evenly (spec 6, R16).

A module's spans are a list in the order in which they begin. Its past is read up to a few edges that move forward in
time alone (now, the far end of every window), so each reader keeps what the spans in front came to that have ended, and
adds up those that have not: n instructions over d cycles are floor(n e / d) after e of them.

A span may be entered late. What it came to before the edge of a reader is then read with what comes next.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.state import COUNT, NONE, State

BEGIN, END, BEFORE, BEHIND, KIND, AMOUNT = range(6)
"""Columns of a span: its first cycle, the one after its last, its neighbours, the class, how much of it."""
CLASSES = 8
"""Those of instructions, then translation stalls and lock waits."""
FIRST, LAST = 0, 1


@noinline
def read_until(state: State, reader: int, module: int, until: int) -> None:
    """Write down in `reader_told` what a module executed before a cycle, which is not before the one read last."""
    _pass_ended(state, reader, module, until)
    for s in range(CLASSES):
        state.reader_told[reader, module, s] = state.reader_ended[reader, module, s]
    row = state.reader_first[reader, module]
    while row != NONE and state.span[row, BEGIN] < until:
        length = state.span[row, END] - state.span[row, BEGIN]
        elapsed = min(until - state.span[row, BEGIN], length)
        state.reader_told[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT] * elapsed // length
        row = state.span[row, BEHIND]


@inlined
def _pass_ended(state: State, reader: int, module: int, until: int) -> None:
    """Move a reader up to a cycle, over the spans in front that have ended."""
    row = state.reader_first[reader, module]
    while row != NONE and state.span[row, END] <= until:
        state.reader_ended[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT]
        row = state.span[row, BEHIND]
    state.reader_first[reader, module], state.reader_at[reader, module] = row, until


@noinline
def enter_span(state: State, module: int, kind: int, begin: int, end: int, amount: int) -> None:
    """Enter what a module executes of a class from one cycle on and before another; a span must be free."""
    row = state.counters[COUNT.span_free]
    state.counters[COUNT.span_free] = state.span[row, BEHIND]
    state.span[row, BEGIN], state.span[row, END] = begin, end
    state.span[row, KIND], state.span[row, AMOUNT] = kind, amount
    _link(state, module, row)
    for reader in range(state.reader_at.shape[0]):
        _look_back(state, reader, module, row)


@inlined
def _link(state: State, module: int, row: int) -> None:
    """Put a span into its module's list, behind all that begin no later."""
    before, behind = state.span_ends[LAST, module], NONE
    while before != NONE and state.span[before, BEGIN] > state.span[row, BEGIN]:
        before, behind = state.span[before, BEFORE], before
    state.span[row, BEFORE], state.span[row, BEHIND] = before, behind
    _join(state, module, before, row)
    _join(state, module, row, behind)


@inlined
def _join(state: State, module: int, before: int, behind: int) -> None:
    """Make two spans neighbours; -1 stands for the end of the list."""
    if before == NONE:
        state.span_ends[FIRST, module] = behind
    else:
        state.span[before, BEHIND] = behind
    if behind == NONE:
        state.span_ends[LAST, module] = before
    else:
        state.span[behind, BEFORE] = before


@inlined
def _look_back(state: State, reader: int, module: int, row: int) -> None:
    """Let a reader know of a new span that lies in front of where it is: as ended, or by going back to it."""
    first = state.reader_first[reader, module]
    if first != NONE and state.span[row, BEGIN] >= state.span[first, BEGIN]:
        return
    if state.span[row, END] <= state.reader_at[reader, module]:
        state.reader_ended[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT]
        return
    state.reader_first[reader, module] = row
    behind = state.span[row, BEHIND]
    while behind != first:
        state.reader_ended[reader, module, state.span[behind, KIND]] -= state.span[behind, AMOUNT]
        behind = state.span[behind, BEHIND]


@noinline
def free_spans(state: State) -> None:
    """Free the spans in front that every reader has passed."""
    for module in range(state.span_ends.shape[1]):
        row = state.span_ends[FIRST, module]
        while row != NONE and not _is_first(state, module, row):
            behind = state.span[row, BEHIND]
            state.span[row, BEHIND] = state.counters[COUNT.span_free]
            state.counters[COUNT.span_free] = row
            row = behind
        _join(state, module, NONE, row)


@inlined
def _is_first(state: State, module: int, row: int) -> bool:
    """Return whether a reader goes on with a span."""
    goes_on = False
    for reader in range(state.reader_first.shape[0]):
        goes_on |= state.reader_first[reader, module] == row
    return goes_on
