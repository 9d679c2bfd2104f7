"""A dispatcher as a part of a larger simulation: others say which group comes when, and may decide when it ends.

The workload is a table of groups; when each joins its queue is asked, whatever its arrival. A group that was granted
ends after its duration, or, as a part whose `ends` are asked, stays until its end is asked: its duration is then how
long it computes, and the least that it stays (spec 6, R2, R12).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.engines.dispatch import asking
from workbench.engines.dispatch.asking import REFUSED, earliest, least_end, present
from workbench.engines.dispatch.beginning import Run
from workbench.engines.dispatch.engine import Dispatch
from workbench.engines.dispatch.prepare import rules_of
from workbench.engines.dispatch.shape import Columns
from workbench.engines.dispatch.state import COUNT, NONE, Play
from workbench.engines.engine import Setup
from workbench.engines.kit import Attempt
from workbench.engines.kit import part as kit
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.part import NEVER, advance, next_event
from workbench.errors import InputError
from workbench.records.dispatch import DispatchRecord

# fmt: off
__all__ = [
    "NEVER", "End", "Part", "Request", "Told", "advance", "ask", "finished", "new_part", "next_event", "record_of",
]
# fmt: on


class Request(NamedTuple):
    """A group of the table that joins the queue of its channel."""

    cycle: int
    """When."""
    group: int
    """Its row."""


class End(NamedTuple):
    """The end of a group, or sub-group, that was granted and stays."""

    cycle: int
    """When it gives back what it holds."""
    dispatch: int
    """The number of its dispatch, as `finished` told."""


class Told(NamedTuple):
    """What became of a request: a group began on a module, or ended."""

    ticket: int
    """Of the request: the group."""
    cycle: int
    """When."""
    module: int
    """Where."""
    dispatch: int
    """The number of the dispatch; a group that was split has one for every sub-group."""
    waves: int
    """Of this dispatch: those of a group's sub-groups add up to those of the group."""
    ended: bool
    """False where it began."""


class Part(kit.Part):
    """The state of a dispatcher that somebody else moves on; it may be copied, to see what would happen.

    Attributes
    ----------
    run : Run
        What the setup and the seed determine.
    play : Play
        Its `state` may be read at any time.
    """

    def __init__(self, run: Run, play: Play) -> None:
        super().__init__(asking, play)
        self.run, self.play = run, play

    def check(self) -> None:
        Dispatch().check(self.run, self.play.state.counters, self.play.state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Part:
        return Part(self.run, deepcopy(self.play, memo))


def new_part(
    setup: Setup, seed: int, ends: Literal["known", "asked"] = "known", logs: Mapping[str, int] | None = None
) -> Part:
    """Return the state of a dispatcher whose modules are empty and whose queues are too.

    Parameters
    ----------
    setup : Setup
        Of the engine `dispatch`; its workload gives the table of groups.
    seed : int
    ends : {"known", "asked"}
        Whether a group that was granted ends after its duration, or stays until an `End` is asked.
    logs : mapping of str to int
        Rows of the logs `takes` and `failures`; without it neither is kept.

    Examples
    --------
    >>> from workbench.engines.dispatch import Dispatch
    >>> from workbench.machine import Machine
    >>> from workbench.policies.policy import read_policy
    >>> from workbench.workloads.synthetic.random_groups import RandomGroups
    >>> slots, engine = {**Dispatch.slots, "shared_placement": "first_fit"}, Dispatch()
    >>> policies = {slot: read_policy(engine.question_of(slot), name, slot) for slot, name in slots.items()}
    >>> workload = RandomGroups(count=3, channels=1, waves=2, duration=100)
    >>> setup = Setup("dispatch", Machine(compute_units=2), workload, policies, engine.options())
    >>> state = new_part(setup, seed=1, ends="asked")
    >>> ask(state, Request(cycle=5, group=2))
    2
    >>> next_event(state)
    (5, 13)
    >>> advance(state, (6, 0))
    >>> finished(state)
    [Told(ticket=2, cycle=5, module=0, dispatch=0, waves=2, ended=False)]
    >>> ask(state, End(cycle=400, dispatch=0))
    0
    >>> advance(state, (NEVER, 0))
    >>> [(told.ticket, told.cycle, told.ended) for told in finished(state)]
    [(2, 400, True)]
    """
    engine = Dispatch()
    run = engine.read(engine.given(setup, seed))
    rules = rules_of(run.given, run.groups, run.history, logs is not None)
    rules = rules._replace(ends_asked=int(ends == "asked"), keeps_answers=1)
    room = {**dict.fromkeys(logs_of(engine.state), 0), **(logs or {})}
    theirs = any(not policy.built_in for policy in engine.asked(run))
    play = engine.begin_with(run, _nobody_asked(run.columns), rules, Attempt(room, logs is not None, checked=theirs))
    play.state.unasked[:] = np.bincount(run.columns.channel, minlength=rules.channels)
    play.state.counters[COUNT.look] = NEVER
    return Part(run, play)


def ask(state: Part, request: Request | End) -> int:
    """Put a group forward, or end one that stays; return the ticket: the group, or the dispatch.

    What is asked may lie ahead; nothing happens before `advance`. None is refused.

    Raises
    ------
    InputError
        The cycle is over, the group does not exist or was put forward before, its channel's last group joins later, the
        dispatch does not stay, or would end before it has computed.
    """
    if isinstance(request, End):
        ticket = state.called("ask_end", request.dispatch, request.cycle)
        if ticket == REFUSED:
            raise InputError(_no_end(state.play, request))
    else:
        ticket = state.called("ask_group", request.group, request.cycle)
        if ticket == REFUSED:
            raise InputError(_no_group(state.play, request))
    return ticket


def finished(state: Part) -> list[Told]:
    """Return what began and what ended since the last call, in the order in which it happened."""
    kept, counters = state.play.state, state.play.state.counters
    answers = kept.answers[: counters[COUNT.answered]].tolist()
    counters[COUNT.answered] = 0
    return [_told(state.play, code // 2, cycle, bool(code % 2)) for code, cycle in answers]


def record_of(state: Part) -> DispatchRecord:
    """Return the engine's record of what has happened so far; who was not put forward has arrival -1.

    It holds the table's durations: where ends are asked, when a group ended is known from `finished` alone.
    """
    return Dispatch().record(state.run, state.play)


def _nobody_asked(columns: Columns) -> Columns:
    return columns._replace(
        arrival=np.full_like(columns.arrival, NONE),
        following=np.full_like(columns.following, NONE),
        first=np.full_like(columns.first, NONE),
    )


def _told(play: Play, dispatch: int, cycle: int, ended: bool) -> Told:
    state = play.state
    waves = int(state.sent[dispatch].sum())
    return Told(int(state.group[dispatch]), cycle, int(state.module[dispatch]), dispatch, waves, ended)


def _no_group(play: Play, request: Request) -> str:
    """Return why a group may not join its queue."""
    cycle, group = request
    groups, now = play.columns.arrival.size, present(play.state)
    if not 0 <= group < groups:
        return f"a request is for group {group}; the table has groups 0 to {groups - 1}."
    if play.columns.arrival[group] != NONE:
        return f"group {group} was put forward before, for cycle {play.columns.arrival[group]}."
    kit.refuse_past(cycle, now)
    last = earliest(play, group)
    return (
        f"group {group} is to join channel {play.columns.channel[group]} at cycle {cycle}, whose last joins at {last}."
    )


def _no_end(play: Play, request: End) -> str:
    """Return why a dispatch may not end."""
    cycle, dispatch = request
    state, now = play.state, present(play.state)
    if not play.rules.ends_asked:
        return "an end is asked of a part whose groups end after their durations; make it with ends='asked'."
    if not 0 <= dispatch < state.counters[COUNT.dispatches]:
        return f"an end is asked of dispatch {dispatch}; there are {state.counters[COUNT.dispatches]} so far."
    if state.slot_of[dispatch] == NONE:
        return f"the end of dispatch {dispatch} was asked before."
    kit.refuse_past(cycle, now)
    return f"dispatch {dispatch} is to end at cycle {cycle}, but it computes until cycle {least_end(play, dispatch)}."
