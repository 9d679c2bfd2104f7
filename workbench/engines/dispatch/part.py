"""A dispatcher as a part of a larger simulation: others say which group comes when, and may decide when it ends.

The workload is a table of groups; when each joins its queue is asked, whatever its arrival. A group that was granted
ends after its duration, or, as a part whose `ends` are asked, stays until its end is asked: its duration is then how
long it computes, and the least that it stays (spec 6, R2, R12). One that waits may be cancelled (E2).

What modules executed is that of the groups, spread over their durations, or what others enter (R16). Who knows which
pages modules hold may be asked before each verdict (R15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled.memory_access import Entry
from workbench.engines.dispatch import part_api
from workbench.engines.dispatch.channels import CANCELLED, ENDED, GRANTED
from workbench.engines.dispatch.choice import ROUTINE, RUN
from workbench.engines.dispatch.engine import Dispatch, Run, most_dispatches
from workbench.engines.dispatch.history import ENTERED_CLASSES
from workbench.engines.dispatch.loop import next_cycle
from workbench.engines.dispatch.part_api import REFUSED, earliest, least_end, present
from workbench.engines.dispatch.prepare import reads_pages, rules_of
from workbench.engines.dispatch.state import COUNT, NONE, Columns, Play, Rules
from workbench.engines.engine import Setup
from workbench.engines.kit import Attempt
from workbench.engines.kit import frame as kit
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.frame import NEVER, next_event
from workbench.errors import InputError
from workbench.records.dispatch import DispatchRecord

# fmt: off
__all__ = [
    "NEVER", "Cancel", "End", "Executed", "Part", "Request", "Told",
    "advance", "ask", "finished", "new_part", "next_event", "record_of", "take_next",
]
# fmt: on


LIVE_ANSWERS = 256
"""Answers that may wait in a part that keeps what is live."""


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


class Cancel(NamedTuple):
    """A group that shall wait no longer: it leaves its queue now, with all its parts that wait."""

    cycle: int
    """The present one."""
    group: int
    """Its row."""


class Executed(NamedTuple):
    """What a module executes, evenly over some cycles, entered late or ahead, into a past that is not the groups'."""

    module: int
    kind: int
    """The class: 0 to 5 of instructions, 6 translation stalls, 7 lock waits."""
    first: int
    """The first cycle."""
    cycles: int
    """How many; 0 = all of it in the first."""
    amount: int
    """Instructions, or cycles of waiting."""


class Told(NamedTuple):
    """What became of a request: a group began on a module, ended, or left its queue."""

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
    wave: int = NONE
    """Of a sub-group its first wave, -1 of a group as it came."""
    cancelled: bool = False
    """True where it left its queue; it has no module and no dispatch then."""


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
        super().__init__(part_api, play)
        self.run, self.play = run, play
        self.unread = list[list[int]]()
        """Answers that were taken out of the state to make room."""

    def keep(self) -> None:
        """Take the answers out of the state, so that there is room for others."""
        state = self.play.state
        self.unread += state.answers[: state.counters[COUNT.answered]].tolist()
        self.called("forget_answers")

    @property
    def reads_pages(self) -> bool:
        """Return whether a term of the choice is told how many pages of a group modules hold."""
        return bool(self.play.rules.asks_pages)

    def asks_pages(self, entry: Entry) -> None:
        """Let pages be asked of somebody, before each verdict.

        Parameters
        ----------
        entry : Entry
            A routine that takes a tuple, a group, its first wave (-1 = all of it) and its waves, and writes into
            `play.state.pages` how many of its pages each module holds.
        """
        self.play.policies.terms.holder[ROUTINE], self.play.policies.terms.holder[RUN] = entry

    def check(self) -> None:
        Dispatch().check(self.run, self.play.state.counters, self.play.state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Part:
        other = Part(self.run, deepcopy(self.play, memo))
        other.unread = [*self.unread]
        return other


def new_part(
    setup: Setup,
    seed: int,
    ends: Literal["known", "asked"] = "known",
    logs: Mapping[str, int] | None = None,
    tells: Literal["ends", "all"] = "ends",
    history: Literal["own", "entered"] = "own",
    entries: int = 4096,
    waits_pj: tuple[float, float] = (0.0, 0.0),
    keeps: Literal["record", "live"] = "record",
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
    tells : {"ends", "all"}
        Whether verdicts about pages, splits and failed rounds are answers too, beside what begins, ends and leaves.
    history : {"own", "entered"}
        Whether the past of modules is what their groups execute, or what is entered.
    entries : int
        How much may be entered at a time that the longest window of a policy still reaches.
    waits_pj : (float, float)
        The energy of a cycle of translation stall, and of lock wait, where heat is simulated.
    keeps : {"record", "live"}
        Whether what has ended is kept for a record. Without, the state grows with what runs at a time, and with the
        sub-groups where groups may be split, not with the table; numbers of dispatches are used again.

    Raises
    ------
    InputError
        The past of modules is their groups', of which nothing would be kept.

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
    (5, 16)
    >>> advance(state, (6, 0))
    >>> finished(state)
    [Told(ticket=2, cycle=5, module=0, dispatch=0, waves=2, ended=False, wave=-1, cancelled=False)]
    >>> ask(state, End(cycle=400, dispatch=0))
    0
    >>> advance(state, (NEVER, 0))
    >>> [(told.ticket, told.cycle, told.ended) for told in finished(state)]
    [(2, 400, True)]
    """
    engine = Dispatch()
    run = engine.read_table(engine.given(setup, seed), of_part=True)
    enters = run.history and history == "entered"
    if enters:
        run = _without_own(run)
    rules = _rules_of(run, logs is not None, keeps == "live")
    rules = rules._replace(ends_asked=int(ends == "asked"), tells_all=int(tells == "all"), entered=int(enters))
    room = {**dict.fromkeys(logs_of(engine.state), 0), **(logs or {}), "spans": entries if enters else 0}
    theirs = any(not policy.built_in for policy in engine.asked(run))
    play = engine.begin_with(run, _nobody_asked(run.columns), rules, Attempt(room, logs is not None, checked=theirs))
    play.state.unasked[:] = np.bincount(run.columns.channel, minlength=rules.channels)
    play.state.counters[COUNT.look] = NEVER
    play.policies.warmth.joules[-len(waits_pj) :] = np.array(waits_pj) * 1e-12
    return Part(run, play)


def _without_own(run: Run) -> Run:
    """Return a run whose groups' own instructions are not counted."""
    none = np.zeros((0, run.columns.rates.shape[1]), np.int64)
    return run._replace(history=False, columns=run.columns._replace(instructions=none, rates=none))


def _rules_of(run: Run, events: bool, live: bool) -> Rules:
    """Return the rules of a part: it keeps answers, of all dispatches or of some."""
    if live and run.history:
        raise InputError("a part that keeps what is live has no past of its own groups; give it history='entered'.")
    rules = rules_of(run.given, run.groups, run.history, events)
    reads = any(reads_pages(term) for term, _ in run.given.slots.choice.terms())
    most = LIVE_ANSWERS if live else 2 * most_dispatches(run)
    return rules._replace(keeps_answers=1, asks_pages=int(reads), most_answers=most, forgets=int(live))


def advance(state: Part, until: tuple[int, int]) -> None:
    """Let everything happen that precedes a cycle and a rank, both exclusive; until `(NEVER, 0)` all that will.

    Raises
    ------
    PolicyError
        A policy raised, gave an answer that its question does not allow, or refuses for ever.
    """
    kit.advance(state, until)
    while next_event(state) < until:  # its answers had no more room
        state.keep()
        kit.advance(state, until)


def take_next(state: Part) -> None:
    """Let the next event happen and no other, if there is one; a round is one event.

    Raises
    ------
    PolicyError
        A policy raised, gave an answer that its question does not allow, or refuses for ever.
    """
    state.keep()
    state.call("take_next")


def ask(state: Part, request: Request | End | Cancel | Executed) -> int:
    """Put a group forward, cancel it, end one that stays, or enter what a module executes; return the ticket.

    The ticket is the group, or the dispatch that ends; of a cancellation, how many entries left the queue; 0 of what is
    executed. What is asked may lie ahead, but for a cancellation; nothing else happens before `advance`. None is
    refused.

    Raises
    ------
    InputError
        The cycle is over, the group does not exist or was put forward before, its channel's last group joins later, the
        dispatch does not stay, or would end before it has computed; nothing waits of a group that is cancelled, or not
        everything has happened that comes before; there is no such module or class, or no more room for what is
        executed.
    """
    name, numbers, why = _ASKED[type(request)]
    ticket = state.called(name, *numbers(request))
    if ticket == REFUSED:
        raise InputError(why(state.play, request))
    return ticket


def finished(state: Part) -> list[Told]:
    """Return what began, ended and left since the last call, in the order in which it happened."""
    state.keep()
    rows, state.unread = state.unread, []
    return [_told(row) for row in rows if row[0] in (GRANTED, ENDED, CANCELLED)]


def record_of(state: Part) -> DispatchRecord:
    """Return the engine's record of what has happened so far; who was not put forward has arrival -1.

    Raises
    ------
    InputError
        The part keeps what is live.

    It holds the table's durations: where ends are asked, when a group ended is known from `finished` alone.
    """
    if state.play.rules.forgets:
        raise InputError("a part that keeps what is live has no record; make it with keeps='record'.")
    return Dispatch().record(state.run, state.play)


def _nobody_asked(columns: Columns) -> Columns:
    return columns._replace(
        arrival=np.full_like(columns.arrival, NONE),
        following=np.full_like(columns.following, NONE),
        first=np.full_like(columns.first, NONE),
    )


def _told(row: list[int]) -> Told:
    kind, group, cycle, module, dispatch, wave, waves = row
    return Told(group, cycle, module, dispatch, waves, kind == ENDED, wave, kind == CANCELLED)


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
    if not 0 <= dispatch < min(state.slot_of.size, state.counters[COUNT.dispatches]):
        return f"an end is asked of dispatch {dispatch}; there are {state.counters[COUNT.dispatches]} so far."
    if state.slot_of[dispatch] == NONE:
        return f"the end of dispatch {dispatch} was asked before."
    kit.refuse_past(cycle, now)
    return f"dispatch {dispatch} is to end at cycle {cycle}, but it computes until cycle {least_end(play, dispatch)}."


def _no_cancel(play: Play, request: Cancel) -> str:
    """Return why a group may not be cancelled."""
    cycle, group = request
    groups = play.columns.arrival.size
    if not 0 <= group < groups:
        return f"group {group} is to be cancelled; the table has groups 0 to {groups - 1}."
    kit.refuse_past(cycle, present(play.state))
    comes = next_cycle(play.state)
    if comes < cycle:
        return f"group {group} is to be cancelled at cycle {cycle}, before which something happens at cycle {comes}."
    return f"group {group} is to be cancelled, but nothing of it waits."


def _not_executed(play: Play, request: Executed) -> str:
    """Return why something that a module executes may not be entered."""
    module, kind, first, cycles, amount = request
    for name, value, most in (("module", module, play.shape.modules - 1), ("kind", kind, ENTERED_CLASSES - 1)):
        if not 0 <= value <= most:
            return f"{name} must be a whole number from 0 to {most}. Got {value}. Nearest: {min(max(value, 0), most)}."
    if min(first, cycles, amount) < 0 or amount * max(cycles, 1) > part_api.MOST:
        return f"{amount} instructions in {cycles} cycles from cycle {first} on cannot be counted."
    room = len(play.state.span)
    return f"more than {room} entries of what modules execute lie in a window; give the part more: entries."


_ASKED: dict[type, tuple[str, Callable[[Any], tuple[int, ...]], Callable[[Play, Any], str]]] = {
    Request: ("ask_group", lambda one: (one.group, one.cycle), _no_group),
    End: ("ask_end", lambda one: (one.dispatch, one.cycle), _no_end),
    Cancel: ("ask_cancel", lambda one: (one.group, one.cycle), _no_cancel),
    Executed: ("enter_history", tuple, _not_executed),
}
"""Of what may be asked: the routine, the numbers that it takes, and why it refused."""
