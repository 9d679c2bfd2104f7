"""Circuits of address translation: the directory next to a private TLB, and a set of a private TLB (spec 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import (
    Circuit,
    added,
    binary,
    chosen,
    circuit_after,
    constant,
    equal,
    exceeds,
    first_one,
    one_hot,
    subtracted,
)
from workbench.circuits.registry import Maker, sizes_within
from workbench.circuits.vectors import Case, Step
from workbench.policies.translation.cores import degree
from workbench.policies.translation.eviction.plain_set import PlainSet
from workbench.streams import Streams

DIRECTORY_STEPS = 40
"""News of a golden case, from a reset on."""


class Record(NamedTuple):
    """The registers of one record."""

    page: np.ndarray
    holders: np.ndarray
    counter: np.ndarray


def build_directory(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the records, the look-up in all of them at once, and what the news do to them; and the first peer.

    Inputs: `page`, the number of which is looked up by core `asker`, and news of `core`: `add`, it holds the page now,
    or `drop`, it does not any more. Outputs, before the news: `known`, whether there is a record; `holders`, its
    bitmap; `degree`, its sharing counter; `asks`, whether another core holds the page, and `peer`, the lowest such
    core, else 0. Registers, for each record: its page, its bitmap, its counter.

    A record is made by the first holder, in the lowest free place, and ends with the last one; a page that finds no
    free place gets none. The size is the cores, the records and the bits of a page's number.
    """
    cores, records, page_bits = _size_of_directory(size)
    net = circuit_after(policy, CORES=cores, RECORDS=records, PAGE_BITS=page_bits)
    bits = max((cores - 1).bit_length(), 1)
    page, asker, core = net.input("page", page_bits), net.input("asker", bits), net.input("core", bits)
    add, drop = net.input("add"), net.input("drop")
    table = [_record(net, k, cores, page_bits) for k in range(records)]
    used = np.concatenate([net.any_of(one.holders) for one in table])
    hits = net.signal("hits", net.and_(used, np.concatenate([equal(net, page, one.page) for one in table])))
    known = net.any_of(hits)
    free = first_one(net, net.not_(used))
    made = net.signal("made", net.and_(free, net.and_(add, net.not_(known))))
    line = net.signal("line", one_hot(net, core, cores))
    for k, one in enumerate(table):
        _follow_directory(net, k, one, page, line, net.and_(net.or_(hits[k], made[k]), add), net.and_(hits[k], drop))
    holders = chosen(net, hits, [one.holders for one in table])
    net.output("known", known)
    net.output("holders", holders)
    net.output("degree", chosen(net, hits, [one.counter for one in table]))
    others = net.signal("others", net.and_(holders, net.not_(one_hot(net, asker, cores))))
    net.output("asks", net.any_of(others))
    net.output("peer", binary(net, first_one(net, others)))
    return net


def _record(net: Circuit, k: int, cores: int, page_bits: int) -> Record:
    bits = cores.bit_length()
    registers = (("page", page_bits), ("holders", cores), ("degree", bits))
    return Record(*(net.register(f"{name}_{k}", width) for name, width in registers))


def _follow_directory(net: Circuit, k: int, one: Record, page: Any, line: Any, add: Any, drop: Any) -> None:
    """Set or clear one holder's bit; the counter moves only where the bit does."""
    bits, held = one.counter.size, net.any_of(net.and_(one.holders, line))
    up, down = net.and_(add, net.not_(held)), net.and_(net.and_(drop, held), net.not_(add))
    net.follow(f"page_{k}", net.select(add, page, one.page))
    holders = net.or_(one.holders, net.and_(up, line))
    net.follow(f"holders_{k}", net.and_(holders, net.not_(net.and_(down, line))))
    more, less = added(net, one.counter, constant(1, bits), bits), subtracted(net, one.counter, constant(1, bits), bits)
    net.follow(f"degree_{k}", net.select(up, more, net.select(down, less, one.counter)))


def _size_of_directory(size: Any) -> list[int]:
    what = "three numbers such as 4,16,12: the cores, the records and the bits of a page"
    return sizes_within(size, what, "4, 16, 12", cores=(1, 64), records=(1, 1024), page_bits=(1, 52))


def cases_of_directory(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield news from a reset on, and which peer the policy asks; the counter is the degree of the bitmap."""
    cores, records, page_bits = _size_of_directory(size)
    draw = Streams(seed)["news"]
    for _ in range(count):
        pages = draw.integers(0, 1 << page_bits, max(2, records + records // 2))
        yield list(_steps_of_directory(policy, cores, records, pages, draw))


def _steps_of_directory(policy: Any, cores: int, records: int, pages: Any, draw: Any) -> Iterator[Step]:
    table: dict[int, str] = {}
    for _ in range(DIRECTORY_STEPS):
        page, core, add = int(draw.choice(pages)), int(draw.integers(cores)), int(draw.random() < 0.6)
        bitmap = table.get(page, "0" * cores)
        asker = int(draw.integers(cores))
        peer = policy.ask(bitmap, asker)
        outputs = {"known": int(page in table), "holders": int(bitmap[::-1], 2), "degree": degree(bitmap)}
        given = {"page": page, "asker": asker, "core": core, "add": add, "drop": 1 - add}
        yield Step(given, {**outputs, "asks": int(peer is not None), "peer": peer or 0})
        if page in table or (add and len(table) < records):
            table[page] = f"{bitmap[:core]}{add}{bitmap[core + 1 :]}"
        if page in table and "1" not in table[page]:
            del table[page]


TLB_STEPS = 60
"""Accesses of a golden case, from a reset on."""


class Entry(NamedTuple):
    """The registers of one entry."""

    valid: np.ndarray
    page: np.ndarray
    frame: np.ndarray
    age: np.ndarray


def build_tlb(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the look-up in all entries at once, the place of what comes in, and the ages that follow, under LRU or MRU.

    Inputs: `page`, which is looked up and used; `fill`, it comes in with `frame` if it is not there. Outputs, before
    the step: `hit`; `translation`, the frame of a hit, else 0; `evicts`, whether an entry goes, and `victim`, its page,
    else 0. Registers, for each entry: whether it is valid, its page, its frame, its age: how many valid entries were
    used since.

    A page comes into the lowest free entry, and in the place of the victim where there is none. The size is the entries
    of the set, the bits of a page's number and those of a frame's.
    """
    entries, page_bits, frame_bits = _size_of_tlb(size)
    net = circuit_after(policy, ENTRIES=entries, PAGE_BITS=page_bits, FRAME_BITS=frame_bits)
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
        _follow_tlb(net, k, one, page, frame, taken[[k]], hits[[k]], net.and_(one.valid, older))
    return net


def _entry(net: Circuit, k: int, entries: int, page_bits: int, frame_bits: int) -> Entry:
    bits = (entries - 1).bit_length()
    registers = (("valid", 1), ("page", page_bits), ("frame", frame_bits), ("age", bits))
    return Entry(*(net.register(f"{name}_{k}", width) for name, width in registers))


def _proposed(net: Circuit, policy: Any, table: list[Entry]) -> np.ndarray:
    """Return the entry of a full set that goes: the one of the highest age, or the one that was used last."""
    age = constant(len(table) - 1 if policy.name == "lru" else 0, table[0].age.size)
    return np.concatenate([equal(net, one.age, age) for one in table])


def _follow_tlb(net: Circuit, k: int, one: Entry, page: Any, frame: Any, taken: Any, hit: Any, older: Any) -> None:
    """Fill an entry that is taken; one that is used has the age 0, one that others overtake is older by one."""
    net.follow(f"valid_{k}", net.or_(one.valid, taken))
    net.follow(f"page_{k}", net.select(taken, page, one.page))
    net.follow(f"frame_{k}", net.select(taken, frame, one.frame))
    bits = one.age.size
    age = net.select(older, added(net, one.age, constant(1, bits), bits), one.age)
    net.follow(f"age_{k}", net.and_(age, net.not_(net.or_(taken, hit))))


def _size_of_tlb(size: Any) -> list[int]:
    what = "the entries, and the bits of a page and of a frame"
    return sizes_within(size, what, "16, 12, 12", entries=(2, 1024), page_bits=(1, 52), frame_bits=(1, 52))


def cases_of_tlb(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield accesses from a reset on, and which page the policy proposes where the set is full."""
    entries, page_bits, frame_bits = _size_of_tlb(size)
    draw = Streams(seed)["accesses"]
    for case in range(count):
        pages = draw.integers(0, 1 << page_bits, max(entries * (1, 2)[case % 2] + 1, 3))
        yield list(_steps_of_tlb(policy, entries, frame_bits, pages, draw))


def _steps_of_tlb(policy: Any, entries: int, frame_bits: int, pages: Any, draw: Any) -> Iterator[Step]:
    one, frames = PlainSet(policy, entries), dict[int, int]()
    for step in range(max(TLB_STEPS, 2 * entries)):
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
    Maker("peer.first_bit", build_directory, cases_of_directory, size="cores, records and bits of a page"),
    *(
        Maker(f"eviction.{name}", build_tlb, cases_of_tlb, size="entries of the set, bits of a page and of a frame")
        for name in ("lru", "mru")
    ),
]
