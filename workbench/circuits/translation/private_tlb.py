"""A private TLB whose set is searched at once: tags, frames, ages, and the entry that goes under LRU or MRU (spec 4).

Inputs: `page`, which is looked up and used; `fill`, it comes in with `frame` if it is not there. Outputs, before the
step: `hit`; `translation`, the frame of a hit, else 0; `evicts`, whether an entry goes, and `victim`, its page, else 0.
Registers, for each entry: whether it is valid, its page, its frame, its age: how many valid entries were used since.
A page comes into the lowest free entry, and in the place of the victim where there is none. The size is the entries of
the set, the bits of a page's number and those of a frame's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, Step
from workbench.circuits.words import added, chosen, constant, equal, exceeds, first_one
from workbench.errors import wrong_value
from workbench.policies.translation.eviction.victim import PlainSet
from workbench.streams import Streams

_LIMITS = {"entries": (2, 1024), "page_bits": (1, 52), "frame_bits": (1, 52)}
STEPS = 60
"""Accesses of a golden case, from a reset on."""


class Entry(NamedTuple):
    """The registers of one entry."""

    valid: np.ndarray
    page: np.ndarray
    frame: np.ndarray
    age: np.ndarray


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the look-up in all entries at once, the place of what comes in, and the ages that follow."""
    entries, page_bits, frame_bits = _size(size)
    parameters = {"ENTRIES": entries, "PAGE_BITS": page_bits, "FRAME_BITS": frame_bits}
    net = Circuit(policy.name, source_of(policy), levers_of(policy), parameters)
    page, fill, frame = net.input("page", page_bits), net.input("fill"), net.input("frame", frame_bits)
    table = [_entry(net, k, entries, page_bits, frame_bits) for k in range(entries)]
    valid = np.concatenate([one.valid for one in table])
    hits = net.signal("hits", net.and_(valid, np.concatenate([equal(net, page, one.page) for one in table])))
    hit, full = net.any_of(hits), net.all_of(valid)
    comes = net.signal("comes", net.and_(fill, net.not_(hit)))
    goes = net.signal("goes", net.and_(net.and_(comes, full), _proposed(net, policy, table)))
    taken = net.signal("taken", net.or_(net.and_(comes, first_one(net, net.not_(valid))), goes))
    net.output("hit", hit)
    net.output("translation", chosen(net, hits, [one.frame for one in table]))
    net.output("evicts", net.any_of(goes))
    net.output("victim", chosen(net, goes, [one.page for one in table]))
    gone = chosen(net, net.or_(hits, goes), [one.age for one in table])
    fresh = net.and_(comes, net.not_(full))
    for k, one in enumerate(table):
        older = net.or_(fresh, net.and_(net.or_(hit, comes), exceeds(net, gone, one.age)))
        _follow(net, k, one, page, frame, taken[[k]], hits[[k]], net.and_(one.valid, older))
    return net


def _entry(net: Circuit, k: int, entries: int, page_bits: int, frame_bits: int) -> Entry:
    bits = (entries - 1).bit_length()
    registers = (("valid", 1), ("page", page_bits), ("frame", frame_bits), ("age", bits))
    return Entry(*(net.register(f"{name}_{k}", width) for name, width in registers))


def _proposed(net: Circuit, policy: Any, table: list[Entry]) -> np.ndarray:
    """Return which entry of a full set goes: the one of the highest age, or the one that was used last."""
    age = constant(len(table) - 1 if policy.name == "lru" else 0, table[0].age.size)
    return np.concatenate([equal(net, one.age, age) for one in table])


def _follow(net: Circuit, k: int, one: Entry, page: Any, frame: Any, taken: Any, hit: Any, older: Any) -> None:
    """Fill an entry that is taken; one that is used has the age 0, one that others overtake is older by one."""
    net.follow(f"valid_{k}", net.or_(one.valid, taken))
    net.follow(f"page_{k}", net.select(taken, page, one.page))
    net.follow(f"frame_{k}", net.select(taken, frame, one.frame))
    bits = one.age.size
    age = net.select(older, added(net, one.age, constant(1, bits), bits), one.age)
    net.follow(f"age_{k}", net.and_(age, net.not_(net.or_(taken, hit))))


def _size(size: Any) -> tuple[int, int, int]:
    if not isinstance(size, Sequence) or len(size) != 3:
        raise wrong_value("", "size", "must be the entries, and the bits of a page and of a frame", size, "16, 12, 12")
    for (name, (least, most)), number in zip(_LIMITS.items(), size, strict=True):
        if not least <= number <= most:
            expected = f"must be from {least} to {most} for a circuit"
            raise wrong_value("", name, expected, number, min(max(number, least), most))
    return size[0], size[1], size[2]


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield accesses from a reset on, and which page the policy proposes where the set is full."""
    entries, page_bits, frame_bits = _size(size)
    draw = Streams(seed)["accesses"]
    for case in range(count):
        pages = draw.integers(0, 1 << page_bits, max(entries * (1, 2)[case % 2] + 1, 3))
        yield list(_steps(policy, entries, frame_bits, pages, draw))


def _steps(policy: Any, entries: int, frame_bits: int, pages: Any, draw: Any) -> Iterator[Step]:
    one, frames = PlainSet(policy, entries), dict[int, int]()
    for step in range(max(STEPS, 2 * entries)):
        page = int(pages[step if step < entries else draw.integers(pages.size)])
        frame = int(draw.integers(1 << frame_bits))
        hit, fill = page in frames, int(step < entries or draw.random() < 0.8)
        evicts = bool(fill) and not hit and len(frames) == entries
        victim = one.proposed()[0] if evicts else 0
        outputs = {"hit": int(hit), "translation": frames.get(page, 0), "evicts": int(evicts), "victim": victim}
        yield Step({"page": page, "fill": fill, "frame": frame}, outputs)
        if evicts:
            one.drop(victim)
            del frames[victim]
        if hit or fill:
            one.use(page)
            frames.setdefault(page, frame)


MAKERS = [
    Maker(f"eviction.{name}", build, cases, size="entries of the set, bits of a page and of a frame")
    for name in ("lru", "mru")
]
