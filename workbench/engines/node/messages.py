"""The log of what passes between the parts, a row a message (spec 6, R2)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import noinline
from workbench.engines.kit import numbered
from workbench.engines.node.state import COUNT, Run


class Kinds(NamedTuple):
    """Kinds of messages."""

    arrive: int
    end: int
    refused: int
    step: int
    map: int
    unmap: int
    put_forward: int
    group_end: int
    enter: int
    dispatch: int
    release: int
    cancel: int
    request: int
    answer: int
    shootdown: int
    held: int
    call: int
    malloc_answer: int
    pool_request: int
    pool_grant: int
    pool_refuse: int
    pool_answer: int
    pool_release: int
    pool_released: int
    pool_return: int
    pool_move: int
    pool_moved: int
    send: int
    arrive_link: int


KIND = numbered(Kinds)
WORDS = {
    "arrive": ("node", "arrive"),
    "end": ("node", "end"),
    "refused": ("node", "refused"),
    "step": ("node", "step"),
    "map": ("node", "map", "tensor", "first", "count"),
    "unmap": ("node", "unmap", "first", "count"),
    "put_forward": ("node", "put_forward", "groups"),
    "group_end": ("node", "group_end"),
    "enter": ("dispatch", "enter", "channel"),
    "dispatch": ("dispatch", "dispatch", "module", "waves"),
    "release": ("dispatch", "release", "module"),
    "cancel": ("dispatch", "cancel"),
    "request": ("translation", "request", "core", "page"),
    "answer": ("translation", "answer", "core", "page", "served_by", "latency"),
    "held": ("translation", "held", "first", "count"),
    "shootdown": ("translation", "shootdown", "core"),
    "call": ("malloc", "call", "number"),
    "malloc_answer": ("malloc", "answer", "nulls"),
    "pool_request": ("pool", "request", "bytes"),
    "pool_grant": ("pool", "grant", "borrower", "identifier", "bytes", "source"),
    "pool_refuse": ("pool", "refuse", "bytes"),
    "pool_answer": ("pool", "answer", "granted"),
    "pool_release": ("pool", "release", "identifier", "bytes"),
    "pool_released": ("pool", "released", "identifier"),
    "pool_return": ("pool", "return_to_driver", "identifier", "bytes"),
    "pool_move": ("pool", "move", "source", "bytes"),
    "pool_moved": ("pool", "moved", "source", "bytes"),
    "send": ("link", "send", "source", "bytes"),
    "arrive_link": ("link", "arrive"),
}
"""Of each kind, its part, what it is called there, and what its values are."""


@noinline
def tell(
    run: Run, kind: int, card: int, first: int, second: int, one: int = 0, two: int = 0, three: int = 0, four: int = 0
) -> None:
    """Keep a message, where messages are kept."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.messages]
    if at < state.messages.shape[0]:
        row = state.messages[at]
        row[0], row[1], row[2], row[3], row[4] = state.counters[COUNT.now], kind, card, first, second
        row[5], row[6], row[7], row[8] = one, two, three, four
    state.counters[COUNT.messages] += 1


@noinline
def tell_detail(run: Run, number: int) -> None:
    """Keep a number that a message points to."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.details]
    if at < state.details.shape[0]:
        state.details[at, 0] = number
    state.counters[COUNT.details] += 1
