"""What passes between the parts of a node: kinds of messages, and of whom they are (spec 6, R2)."""

from __future__ import annotations

from typing import NamedTuple


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
    walk_times: int
    section: int


KIND = Kinds(*range(len(Kinds._fields)))
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
    "walk_times": ("translation", "walk_times", "page", "begun", "read", "ended"),
    "section": ("malloc", "section", "request", "acquired", "chunk", "answered"),
}
"""Of each kind, its part, what it is called there, and what its values are."""


def fields_of(first: int, second: int) -> tuple[int, ...]:
    """Return the eight fields of the two words that say of whom a message is (spec 6, R3): card, application, stream,
    step, group, wave, phase, touch; -1 = absent.

    >>> fields_of(1 << 56 | 3 << 42 | 2 << 28 | 5, 8 << 35 | 1 << 14)
    (0, 2, 1, 4, 7, -1, 0, -1)
    """
    of_first = [(first, low, bits) for low, bits in ((56, 7), (42, 14), (28, 14), (0, 28))]
    of_second = [(second, low, bits) for low, bits in ((35, 28), (24, 11), (14, 10), (0, 14))]
    cut = [*of_first, *of_second]
    return tuple((word >> low & (1 << bits) - 1) - 1 for word, low, bits in cut)
