"""Translation as a part of a larger simulation: its events are taken as far as another clock allows (spec 6, R2, R11).

What translates beside other mechanisms on one calendar is asked for accesses when that calendar says so; a core model
has no say here. Accesses of a core stand in one queue, which it issues one after the other. Pages may be unmapped and
cores stalled from outside, and a walk may wait until somebody says that its bytes have come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import bound
from workbench.engines.engine import Setup
from workbench.engines.kit import Attempt
from workbench.engines.kit import frame as kit
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.frame import NEVER, advance, next_event
from workbench.engines.kit.order import LAST_CYCLE, RANK
from workbench.engines.translation import part_api
from workbench.engines.translation.engine import PartRules, Play, Translation
from workbench.engines.translation.engine import record_of as record_of_play
from workbench.engines.translation.events import SAYS
from workbench.engines.translation.options import Reading
from workbench.engines.translation.part_api import MOST_TICKETS, NEEDS_ROOM, REFUSED
from workbench.engines.translation.state import COUNT, State, Told
from workbench.engines.translation.statistics import sample
from workbench.engines.translation.trace import no_rows
from workbench.errors import InputError
from workbench.records.translation import SERVED_BY, TranslationRecord

# fmt: off
__all__ = [
    "NEVER", "Answer", "Begin", "End", "Part", "Request", "Stall", "Step", "Unmap", "WalkRead", "advance", "ask",
    "finished", "make_room", "new_part", "next_event", "record_of",
]
# fmt: on


class Request(NamedTuple):
    """An access, or an unmapping by the core itself, that enters the queue of a core."""

    cycle: int
    core: int
    page: int
    unmaps: bool = False


class Unmap(NamedTuple):
    """A page leaves every TLB at once; what is under way of it is answered, and fills nothing."""

    cycle: int
    page: int


class Stall(NamedTuple):
    """A core issues nothing before a cycle."""

    cycle: int
    core: int
    until: int


class End(NamedTuple):
    """The bytes of a walk have come, of which `WalkRead` was told."""

    cycle: int
    walk: int


class Begin(NamedTuple):
    """An access was issued: it left the queue of its core."""

    ticket: int
    cycle: int
    way: str
    """`hit`, `joined` (a miss of its core) or `took_register`."""


class Answer(NamedTuple):
    """An access was answered.

    The last four fields are cycles, and equal where no walk has a part in the answer.
    """

    ticket: int
    cycle: int
    served_by: str
    """One of `records.translation.SERVED_BY`."""
    queued: int
    """When it, or the miss that it joined, came to the walkers."""
    begun: int
    """When its walk began."""
    read: int
    """When the page tables were read."""
    ended: int


class WalkRead(NamedTuple):
    """A walk is read, and keeps its walker until its `End`."""

    walk: int
    cycle: int
    ticket: int
    """Of the access that opened it."""


class Step(NamedTuple):
    """What happened to an access between its issue and its answer, or to the core that it fills."""

    kind: str
    """One of `events.Answers`."""
    ticket: int
    """Of the access that missed."""
    cycle: int
    core: int
    tag: int
    """Of the page."""
    what: int
    """See `events.Answers`."""


class Part(kit.Part):
    """The state of a translation hierarchy that somebody else moves on; it may be copied, to see what would happen.

    Attributes
    ----------
    play : Play
        Its `state` may be read at any time.
    """

    def __init__(self, run: Reading, play: Play) -> None:
        self.run, self.play = run, play
        super().__init__(part_api, play.run(no_rows()))

    @property
    def state(self) -> State:
        """Return what changes."""
        return self.play.state

    def called(self, name: str, *numbers: int) -> int:
        """Call a routine by its name, with more room where that is wanting."""
        while (result := super().called(name, *numbers)) == NEEDS_ROOM:
            make_room(self)
        return result

    def check(self) -> None:
        Translation().check(self.run, self.state.counters, self.state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Part:
        return Part(self.run, deepcopy(self.play, memo))


def new_part(
    setup: Setup,
    seed: int,
    walks: Literal["end", "wait"] = "end",
    rows: bool = False,
    logs: Mapping[str, int] | None = None,
) -> Part:
    """Return the state of a translation hierarchy in which nothing has happened yet.

    Parameters
    ----------
    setup : Setup
        Of the engine `translation`; nothing is read of its workload.
    seed : int
    walks : {"end", "wait"}
        Whether a walk ends when it is read, or waits for its `End`, as one whose page lies on another card does.
    rows : bool
        Whether each step between an issue and its answer is told too: looks into directories, at peers and into the
        shared TLB, requests at the walkers, walks that begin and end, fills.
    logs : mapping of str to int
        Rows of the log `logged`; without it none is kept.

    Examples
    --------
    >>> from workbench.engines.translation import Translation, TranslationOptions
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.policies.policy import read_policy
    >>> slots = {**Translation.slots, "locate": "no_directory", "fill": "demand_always"}
    >>> policies = {slot: read_policy(Translation().question_of(slot), name, slot) for slot, name in slots.items()}
    >>> setup = Setup("translation", TranslationMachine(cores=2), None, policies, TranslationOptions())
    >>> state = new_part(setup, seed=1)
    >>> ask(state, Request(cycle=5, core=1, page=7))
    0
    >>> next_event(state)
    (5, 13)
    >>> advance(state, (NEVER, 0))
    >>> begin, answer = finished(state)
    >>> begin
    Begin(ticket=0, cycle=5, way='took_register')
    >>> answer
    Answer(ticket=0, cycle=418, served_by='walk', queued=18, begun=18, read=418, ended=418)
    """
    engine = Translation()
    run = engine.read(engine.given(setup, seed))
    room = {**dict.fromkeys(logs_of(State), 0), **(logs or {})}
    theirs = any(not policy.built_in for policy in engine.asked(run))
    play = Play(run, Attempt(room, logs is not None, checked=theirs), PartRules(int(walks == "wait"), int(rows)))
    return Part(run, play)


def make_room(state: Part) -> None:
    """Make the arrays longer that one more request or event may fill."""
    state.play.make_room_for_page()
    state.run_on(state.play.run(no_rows()))


def ask(state: Part, request: Request | Unmap | Stall | End) -> int:
    """Ask for something at a cycle, after all that precedes it, and return its ticket.

    That of an access is its number among those that were asked for, modulo 2^26; of an unmapping it is how many private
    TLBs held the page, of a stall the cycle at which it ends, of the end of a walk the walk.

    Raises
    ------
    InputError
        The cycle is over, or the core, the page or the walk does not exist.
    PolicyError
        A policy raised, or gave an answer that its question does not allow.
    """
    _refuse_wrong_time(state, request.cycle)
    rank, call = _ASKED[type(request)]
    advance(state, (request.cycle, rank))
    ticket = call(state, request)
    if ticket == REFUSED:
        raise InputError(_why_refused(state, request))
    return ticket


def finished(state: Part) -> list[Begin | Answer | WalkRead | Step]:
    """Return what came about since the last call, in its order."""
    size, count = len(Told._fields), state.state.counters[COUNT.answered]
    rows = state.state.answers[: size * count].reshape(-1, size).tolist()
    state.called("forget_answers")
    return [_read(Told(*row)) for row in rows]


def record_of(state: Part) -> TranslationRecord:
    """Return what happened so far, as the engine has it."""
    play = deepcopy(state.play)
    bound(sample, play.run(no_rows()))()
    return record_of_play(play)


def _access(state: Part, request: Request) -> int:
    _refuse_what_is_not(state, request)
    counters = state.state.counters
    tag = int(state.play.trace.tags.of(np.array([request.page]))[0])
    ticket = int(counters[COUNT.asked]) % MOST_TICKETS
    return state.call("ask_row", request.core, request.page, tag, int(request.unmaps), ticket, request.cycle)


def _unmap(state: Part, request: Unmap) -> int:
    tag = int(state.play.trace.tags.of(np.array([request.page]))[0])
    return state.call("ask_unmap", tag, part_api.BY_TLB, request.cycle)


def _stall(state: Part, request: Stall) -> int:
    return state.call("stall", request.core, request.until, request.cycle)


def _end(state: Part, request: End) -> int:
    return state.call("end_walk", request.walk, request.cycle)


_ASKED: dict[type, tuple[int, Callable[[Part, Any], int]]] = {
    Request: (RANK.touches, _access),
    Unmap: (RANK.frees, _unmap),
    Stall: (RANK.shoot_downs, _stall),
    End: (RANK.walk_ends, _end),
}
"""Of each request: the rank of its moment, and how it is asked for."""


def _read(row: Told) -> Begin | Answer | WalkRead | Step:
    if row.kind == SAYS.issued:
        return Begin(row.ticket, row.cycle, ("hit", "joined", "took_register")[row.what])
    if row.kind == SAYS.walk_read:
        return WalkRead(row.what, row.cycle, row.ticket)
    if row.kind == SAYS.answered:
        return Answer(row.ticket, row.cycle, SERVED_BY[row.what], *row[-4:])
    return Step(SAYS._fields[row.kind], row.ticket, row.cycle, row.core, row.tag, row.what)


def _refuse_wrong_time(state: Part, cycle: int) -> None:
    counters = state.state.counters
    if counters[COUNT.started]:
        kit.refuse_past(cycle, int(counters[COUNT.now]))
    if cycle > LAST_CYCLE:
        raise InputError(f"cycle {cycle} is too late; cycles are below 2^56.")


def _refuse_what_is_not(state: Part, request: Request) -> None:
    machine = state.run.given.machine
    if not 0 <= request.core < machine.cores:
        raise InputError(f"a request is by core {request.core}; the machine has cores 0 to {machine.cores - 1}.")
    if not 0 <= request.page < machine.pages:
        last = machine.pages - 1
        raise InputError(f"a request is to page {request.page}; addresses of the machine end at page {last}.")


def _why_refused(state: Part, request: Any) -> str:
    """Return the sentence for what cannot be asked for."""
    if isinstance(request, End):
        return f"walk {request.walk} does not wait for its bytes."
    last = state.run.given.machine.cores - 1
    return f"a stall is of core {request.core} until cycle {request.until}; cores are 0 to {last}, cycles below 2^56."
