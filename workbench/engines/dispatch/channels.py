"""The channels: a first-in first-out queue each, whose first groups are put forward (spec 3, R1, R2)."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.dispatch.entries import behind, group_of, link
from workbench.engines.dispatch.fitting import forget_verdicts, move_verdicts
from workbench.engines.dispatch.shape import Columns, Rules
from workbench.engines.dispatch.state import COUNT, NEVER, NONE, State


@kernel
def put_forward(columns: Columns, rules: Rules, state: State, now: int) -> bool:
    """Let every channel put its arrived groups forward, as many as it may; True where there is a new one."""
    if now < state.counters[COUNT.next_arrival] and not state.counters[COUNT.vacant]:
        return False
    return _put_all_forward(columns, rules, state, now)


@noinline
def _put_all_forward(columns: Columns, rules: Rules, state: State, now: int) -> bool:
    changed = False
    state.counters[COUNT.next_arrival], state.counters[COUNT.vacant] = NEVER, 0
    for channel in range(rules.channels):
        while state.offered[channel] < rules.offers and state.upcoming[channel] != NONE:
            entry = state.upcoming[channel]
            arrival = columns.arrival[group_of(columns, state, entry)]
            if arrival > now:
                state.counters[COUNT.next_arrival] = min(state.counters[COUNT.next_arrival], arrival)
                break
            offer = channel * rules.offers + state.offered[channel]
            state.offer[offer] = entry
            state.upcoming[channel] = behind(columns, state, entry)
            state.counters[COUNT.waiting] += state.offered[channel] == 0
            state.offered[channel] += 1
            state.is_new[offer] = True
            changed = True
    return changed


@inlined
def take_off(columns: Columns, rules: Rules, state: State, offer: int) -> None:
    """Take an offer that was dispatched off its queue, and move those behind it up."""
    channel = offer // rules.offers
    start = channel * rules.offers
    last = start + state.offered[channel] - 1
    if offer > start:
        link(
            columns, state, state.offer[offer - 1], state.offer[offer + 1] if offer < last else state.upcoming[channel]
        )
    for place in range(offer, last):
        state.offer[place] = state.offer[place + 1]
        move_verdicts(state, place + 1, place)
    forget_verdicts(state, last)
    state.offer[last] = NONE
    state.counters[COUNT.vacant] = 1
    state.offered[channel] -= 1
    state.counters[COUNT.waiting] -= state.offered[channel] == 0


@inlined
def join(columns: Columns, rules: Rules, state: State, group: int) -> bool:
    """Put a group at the end of its channel's queue; True where the channel may put it forward when it arrives."""
    channel = columns.channel[group]
    offered, is_next = state.offered[channel], state.upcoming[channel] == NONE
    if not is_next:
        link(columns, state, state.last[channel], group)
    elif offered > 0:
        link(columns, state, state.offer[channel * rules.offers + offered - 1], group)
    if is_next:
        state.upcoming[channel] = group
    state.last[channel] = group
    return is_next and offered < rules.offers


@inlined
def call_back(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int) -> None:
    """Put the entries from `first` to `last`, a list of sub-groups, in the place of the channel's head.

    What had been put forward goes back into the queue behind them.
    """
    start, offered = channel * rules.offers, state.offered[channel]
    following = state.upcoming[channel] if offered == 1 else state.offer[start + 1]
    if state.upcoming[channel] == NONE:
        state.last[channel] = last if offered == 1 else state.offer[start + offered - 1]
    link(columns, state, last, following)
    state.upcoming[channel] = first
    for offer in range(start, start + offered):
        forget_verdicts(state, offer)
        state.offer[offer] = NONE
    state.offered[channel] = 0
    state.counters[COUNT.vacant] = 1
    state.counters[COUNT.waiting] -= 1
