"""What a part tells whoever moves it on: a row a message, in the order in which things happened (spec 6, R2).

Nothing is told in a whole run, which has no room for it.
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.entries import first_wave_of, group_of, waves_of
from workbench.engines.dispatch.shape import Columns, Rules
from workbench.engines.dispatch.state import COUNT, NONE, State

KIND, TICKET, CYCLE, MODULE, DISPATCH, WAVE, WAVES = range(7)
"""Columns of a row: the ticket is the group, the wave the first of a sub-group, -1 of a group as it came."""
GRANTED, ENDED, CANCELLED, VERDICT, SPLIT, FAILED = range(6)
"""Kinds of rows. Of a verdict, the dispatch is its row of `verdicts`; of a split, the waves are the sub-groups; of a
failed round, how many have failed in a row."""
FIELDS = 7
VERDICTS = 64
"""Verdicts that may wait when another event is taken."""


def of_one_event(rules: Rules) -> int:
    """Return the most rows that one event tells: a round's verdicts and grants, a failed one, and what it splits."""
    return 2 * rules.dispatches_a_round + rules.channels + 2


@inlined
def has_room(rules: Rules, state: State) -> bool:
    """Return whether what another event tells has room, so that it may be taken."""
    return state.counters[COUNT.answered] <= rules.most_answers and state.counters[COUNT.verdicts] <= VERDICTS


@noinline
def tell(state: State, kind: int, ticket: int, cycle: int, module: int, dispatch: int, wave: int, waves: int) -> None:
    """Keep a row for whoever asked."""
    at = state.counters[COUNT.answered]
    if at >= state.answers.shape[0]:
        return
    row = state.answers[at]
    row[KIND], row[TICKET], row[CYCLE], row[MODULE] = kind, ticket, cycle, module
    row[DISPATCH], row[WAVE], row[WAVES] = dispatch, wave, waves
    state.counters[COUNT.answered] = at + 1


@inlined
def tell_of(columns: Columns, state: State, kind: int, entry: int, cycle: int, module: int, dispatch: int) -> None:
    """Keep a row about an entry of a channel."""
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    tell(state, kind, group, cycle, module, dispatch, first_wave_of(columns, state, entry), waves)


@inlined
def tell_failure(state: State, cycle: int) -> None:
    """Keep a row about a round in which nothing was dispatched."""
    tell(state, FAILED, NONE, cycle, NONE, NONE, NONE, state.counters[COUNT.failing])
