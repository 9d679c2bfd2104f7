"""What a term of the choice, or the model of heat, may know of a past that others have entered (spec 6, R16, N10).

Instructions of a window are counted exactly. Counters that are halved, and energies of thermal steps, take what is
entered late at the next time at which they are read.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.shape import Policies, Warmth
from workbench.engines.dispatch.spans import BEGIN, CLASSES, read_until
from workbench.engines.dispatch.state import NONE, State

SCALE_BITS = 20
SCALE = float(1 << SCALE_BITS)
NOW = 0
"""The reader of all that was executed before a decision; behind it one of each term, then that of heat."""


@noinline
def recall(policies: Policies, state: State, term: int, module: int, now: int) -> None:
    """Write down what a term may know of a module's past: instructions and waits of each class that it reads."""
    window, classes = policies.terms.history[term], policies.terms.classes[term]
    recent = state.recent[1]
    read_edge(policies, state, term, module, now)
    if not window:
        for s in range(classes):
            recent[module * classes + s] = state.span_halved[term, module, s] / SCALE
        return
    read_until(state, NOW, module, now)
    for s in range(classes):
        executed = state.reader_told[NOW, module, s] - state.reader_told[1 + term, module, s]
        recent[module * classes + s] = float(executed)


@noinline
def read_edge(policies: Policies, state: State, term: int, module: int, now: int) -> None:
    """Move a term's reader of a module up to where it is at a cycle: its window's far end, or the cycle."""
    period = policies.terms.halving[term]
    if period:
        _halve_until(period, state, term, module, now)
    else:
        read_until(state, 1 + term, module, max(now - policies.terms.history[term], 0))


@inlined
def _halve_until(period: int, state: State, term: int, module: int, now: int) -> None:
    """Bring halved counters up to the cycle before `now`: at each multiple of the period they lose half."""
    at = state.reader_at[1 + term, module]
    while at < now:
        if at % period == 0:
            for s in range(CLASSES):
                state.span_halved[term, module, s] >>= 1
        following = (at + period) // period * period
        if _is_quiet(state, term, module, now):  # after 64 halvings nothing is left
            following = max(following, (now // period - 64) * period)
        _add_until(state, term, module, min(following, now))
        at = min(following, now)


@inlined
def _is_quiet(state: State, term: int, module: int, until: int) -> bool:
    """Return whether nothing is executed between a term's reader and a cycle."""
    row = state.reader_first[1 + term, module]
    return row == NONE or state.span[row, BEGIN] >= until


@inlined
def _add_until(state: State, term: int, module: int, until: int) -> None:
    for s in range(CLASSES):
        state.span_halved[term, module, s] -= state.reader_told[1 + term, module, s] << SCALE_BITS
    read_until(state, 1 + term, module, until)
    for s in range(CLASSES):
        state.span_halved[term, module, s] += state.reader_told[1 + term, module, s] << SCALE_BITS


@noinline
def entered_joules(warmth: Warmth, state: State, module: int, until: int) -> float:
    """Return the energy of what a module executed since this was asked last."""
    heat, joules = state.reader_first.shape[0] - 1, 0.0
    for s in range(CLASSES):
        joules -= state.reader_told[heat, module, s] * warmth.joules[s]
    read_until(state, heat, module, until)
    for s in range(CLASSES):
        joules += state.reader_told[heat, module, s] * warmth.joules[s]
    return joules
