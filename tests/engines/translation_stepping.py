"""A translation hierarchy driven request by request; what it tells is read as it comes."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from tests.engines.stepping import Stepped
from workbench.compiled import bound, routine
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.order import RANK
from workbench.engines.node.parts import TranslationPart, new_translation
from workbench.engines.translation import part
from workbench.engines.translation.answers import SAYS
from workbench.engines.translation.lookup import FOR_CORE, TO_UNMAP
from workbench.engines.translation.part import BY_TLB, MOST_TICKETS, NEEDS_ROOM, enter_queue, next_moment, take_next
from workbench.engines.translation.state import COUNT, Reply, Run
from workbench.engines.translation.statistics import sample
from workbench.engines.translation.trace import no_rows
from workbench.records.translation import SERVED_BY, TranslationRecord


@routine
def advance_to(run: Run, until: int) -> int:
    """Let everything happen before a moment; how many answers wait."""
    result = run.state.counters[COUNT.answered]
    while result >= 0 and next_moment(run) < until:
        result = take_next(run)
    return result


@routine
def ask_row(run: Run, core: int, page: int, tag: int, unmaps: int, ticket: int, cycle: int) -> int:
    """Let a row of a trace enter the queue of a core: an access, or an unmapping by the core itself."""
    return enter_queue(run, core, page, tag, ticket, cycle, TO_UNMAP if unmaps else FOR_CORE)


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
    """An access was issued."""

    ticket: int
    cycle: int
    way: str


class Answer(NamedTuple):
    """An access was answered; the last four fields are equal where no walk has a part in the answer."""

    ticket: int
    cycle: int
    served_by: str
    queued: int
    begun: int
    read: int
    ended: int


class WalkRead(NamedTuple):
    """A walk is read, and keeps its walker until its `End`; the ticket is that of the access that opened it."""

    walk: int
    cycle: int
    ticket: int


ASKED = {
    Request: ("ask_row", RANK.touches),
    Unmap: ("ask_unmap", RANK.frees),
    Stall: ("stall", RANK.shoot_downs),
    End: ("end_walk", RANK.walk_ends),
}


class Asked(Stepped):
    """A translation hierarchy, with more room where that is wanting."""

    part: TranslationPart

    def __init__(self, setup: Setup, seed: int, **more: Any) -> None:
        super().__init__(new_translation(setup, seed, **more), ASKED, part, sys.modules[__name__])

    def called(self, name: str, *numbers: int) -> int:
        while (result := super().called(name, *numbers)) == NEEDS_ROOM:
            self.part.make_room()
        return result

    def numbers(self, request: Any) -> list[int]:
        """Of what names a page its tag as well; of an access its ticket, the number of those before it."""
        tag = int(self.part.play.trace.tags.of(np.array([getattr(request, "page", 0)]))[0])
        if isinstance(request, Unmap):
            return [tag, BY_TLB]
        if isinstance(request, Request):
            return [
                request.core,
                request.page,
                tag,
                request.unmaps,
                self.lent.state.counters[COUNT.tickets] % MOST_TICKETS,
            ]
        return [*request[1:]]


def finished(state: Asked) -> list[Begin | Answer | WalkRead]:
    """What came about since the last call, in its order."""
    size, count = len(Reply._fields), state.lent.state.counters[COUNT.answered]
    rows = state.lent.state.answers[: size * count].reshape(-1, size).tolist()
    state.called("forget_answers")
    return [_read(Reply(*row)) for row in rows]


def _read(row: Reply) -> Begin | Answer | WalkRead:
    if row.kind == SAYS.issued:
        return Begin(row.ticket, row.cycle, ("hit", "joined", "took_register")[row.what])
    if row.kind == SAYS.walk_read:
        return WalkRead(row.what, row.cycle, row.ticket)
    assert row.kind == SAYS.answered
    return Answer(row.ticket, row.cycle, SERVED_BY[row.what], *row[-4:])


def record_of(own: TranslationPart) -> TranslationRecord:
    """What happened, as the engine has it; nothing more may be asked of the part."""
    bound(sample, own.play.run(no_rows()))()
    record: TranslationRecord = own.engine.record(own.run, own.play)
    return record
