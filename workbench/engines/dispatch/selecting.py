"""Which of the waiting groups is dispatched? The heads of the channels, as the selection policy sees them."""

from __future__ import annotations

from workbench.compiled import RAISED, inlined, kernel, noinline
from workbench.engines.dispatch.entries import group_of, level_of, waves_of
from workbench.engines.dispatch.shape import Columns, Policies, Rules
from workbench.engines.dispatch.state import FAULT, NONE, State
from workbench.engines.kit.faults import fail
from workbench.policies.dispatch.priority import RANK, PriorityView
from workbench.policies.dispatch.selection.question import SELECT, SelectionView

ask_rank = RANK.ask
ask_selection = SELECT.ask
OFFER, CHANNEL, PRIORITY, RANKED, FITS, WAITED, WAVES = range(7)
NOTHING_FITS, REFUSED, BROKEN = -1, -2, -3


@inlined
def _put_down(
    columns: Columns, rules: Rules, policies: Policies, state: State, channel: int, at: int, now: int
) -> None:
    """Write down what a channel puts forward: its first offer that fits, else its head."""
    offer = channel * rules.offers
    for behind in range(state.offered[channel]):
        if state.fitting[channel * rules.offers + behind] > 0:
            offer = channel * rules.offers + behind
            break
    entry, seen = state.offer[offer], state.entry
    group = group_of(columns, state, entry)
    waited = now - columns.arrival[group]
    level = level_of(columns, state, entry)
    rank = ask_rank(policies.priority.answer, PriorityView(now, level, rules.levels, waited, policies.priority.params))
    if rank == RAISED:
        fail(state.counters, FAULT.priority_raised, now, group, level)
    label = 1 if rules.one_label and level <= rules.levels else level
    seen[OFFER, at], seen[CHANNEL, at], seen[PRIORITY, at], seen[RANKED, at] = offer, channel, label, rank
    seen[FITS, at] = int(state.fitting[offer] > 0)
    seen[WAITED, at], seen[WAVES, at] = waited, waves_of(columns, state, entry)


@kernel
def anything_fits(rules: Rules, state: State) -> bool:
    """Return True if any offer fits some module."""
    for channel in range(rules.channels):
        for offer in range(channel * rules.offers, channel * rules.offers + state.offered[channel]):
            if state.fitting[offer] > 0:
                return True
    return False


@noinline
def select(columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> int:
    """Choose the offer to dispatch; NOTHING_FITS, or REFUSED where the selection policy dispatches nothing."""
    if not anything_fits(rules, state):
        return NOTHING_FITS
    count = 0
    for channel in range(rules.channels):
        if state.offered[channel] > 0:
            _put_down(columns, rules, policies, state, channel, count, now)
            count += 1
    seen, policy = state.entry, policies.selection
    chosen = ask_selection(
        policy.answer,
        SelectionView(
            now,
            count,
            seen[CHANNEL],
            seen[PRIORITY],
            seen[RANKED],
            seen[FITS],
            seen[WAITED],
            seen[WAVES],
            policy.params,
            policy.memory,
        ),
    )
    if chosen == NONE:
        return REFUSED
    if chosen == RAISED:
        fail(state.counters, FAULT.selection_raised, now, NONE, chosen)
        return BROKEN
    if chosen < 0 or chosen >= count or seen[FITS, chosen] == 0:
        fail(state.counters, FAULT.selection_wrong, now, NONE, chosen)
        return BROKEN
    return seen[OFFER, chosen]
