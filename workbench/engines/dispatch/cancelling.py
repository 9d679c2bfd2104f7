"""Groups that leave their channels unserved: their application was refused (spec 6, E2)."""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.channels import take_off
from workbench.engines.dispatch.entries import behind, group_of, link
from workbench.engines.dispatch.shape import Columns, Rules
from workbench.engines.dispatch.state import COUNT, NONE, State
from workbench.engines.dispatch.told import CANCELLED, tell_of


@noinline
def waits_in(columns: Columns, rules: Rules, state: State, channel: int, group: int) -> bool:
    """Return whether anything of a group waits in a channel."""
    start = channel * rules.offers
    for offer in range(start, start + state.offered[channel]):
        if group_of(columns, state, state.offer[offer]) == group:
            return True
    entry = state.upcoming[channel]
    while entry != NONE:
        if group_of(columns, state, entry) == group:
            return True
        entry = behind(columns, state, entry)
    return False


@noinline
def cancel_in(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    """Take the groups from `first` to `last`, and their parts, out of a channel; return how many entries left.

    Those that were put forward go first, then the others, each in their order, as long as they can be told.
    """
    return _cancel_offers(columns, rules, state, channel, first, last, now) + _cancel_queued(
        columns, rules, state, channel, first, last, now
    )


@inlined
def _leaves(columns: Columns, rules: Rules, state: State, entry: int, first: int, last: int) -> bool:
    """Return whether an entry is one of the groups, or of their parts, and may be told."""
    return first <= group_of(columns, state, entry) <= last and state.counters[COUNT.answered] <= rules.most_answers


@inlined
def _cancel_offers(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    left, offer = 0, channel * rules.offers
    while offer < channel * rules.offers + state.offered[channel]:
        if _leaves(columns, rules, state, state.offer[offer], first, last):
            tell_of(columns, state, CANCELLED, state.offer[offer], now, NONE, NONE)
            take_off(columns, rules, state, offer)
            left += 1
        else:
            offer += 1
    return left


@inlined
def _cancel_queued(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    left, before = 0, NONE
    entry = state.upcoming[channel]
    while entry != NONE:
        following = behind(columns, state, entry)
        if _leaves(columns, rules, state, entry, first, last):
            tell_of(columns, state, CANCELLED, entry, now, NONE, NONE)
            _unlink(columns, rules, state, channel, before, following)
            left += 1
        else:
            before = entry
        entry = following
    if before != NONE:
        state.last[channel] = before
    state.counters[COUNT.vacant] = 1
    return left


@inlined
def _unlink(columns: Columns, rules: Rules, state: State, channel: int, before: int, following: int) -> None:
    """Let an entry follow another one, or the last that was put forward; both may be none."""
    if before == NONE:
        state.upcoming[channel] = following
        if state.offered[channel] > 0:
            before = state.offer[channel * rules.offers + state.offered[channel] - 1]
    if before != NONE:
        link(columns, state, before, following)
