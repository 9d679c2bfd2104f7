"""The directory beside a private TLB: records compared at once, their sharing counters, and the first peer (spec 4).

Inputs: `page`, the number of which is looked up by core `asker`, and news of `core`: `add`, it holds the page now, or
`drop`, it does not any more. Outputs, before the news: `known`, whether there is a record; `holders`, its bitmap;
`degree`, its sharing counter; `asks`, whether another core holds the page, and `peer`, the lowest such core, else 0.
Registers, for each record: its page, its bitmap, its counter.
A record is made by the first holder, in the lowest free place, and ends with the last one; a page that finds no free
place gets none. The size is the cores, the records and the bits of a page's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, Step
from workbench.circuits.words import added, binary, chosen, constant, equal, first_one, one_hot, subtracted
from workbench.errors import wrong_value
from workbench.policies.translation.cores import degree
from workbench.streams import Streams

_LIMITS = {"cores": 64, "records": 1024, "page_bits": 52}
STEPS = 40
"""News of a golden case, from a reset on."""


class Record(NamedTuple):
    """The registers of one record."""

    page: np.ndarray
    holders: np.ndarray
    counter: np.ndarray


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the records, the look-up in all of them at once, and what the news do to them."""
    cores, records, page_bits = _size(size)
    parameters = {"CORES": cores, "RECORDS": records, "PAGE_BITS": page_bits}
    net = Circuit(policy.name, source_of(policy), levers_of(policy), parameters)
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
        _follow(net, k, one, page, line, net.and_(net.or_(hits[k], made[k]), add), net.and_(hits[k], drop))
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


def _follow(net: Circuit, k: int, one: Record, page: Any, line: Any, add: Any, drop: Any) -> None:
    """Set or clear one holder's bit; the counter moves only where the bit does."""
    bits, held = one.counter.size, net.any_of(net.and_(one.holders, line))
    up, down = net.and_(add, net.not_(held)), net.and_(net.and_(drop, held), net.not_(add))
    net.follow(f"page_{k}", net.select(add, page, one.page))
    holders = net.or_(one.holders, net.and_(up, line))
    net.follow(f"holders_{k}", net.and_(holders, net.not_(net.and_(down, line))))
    more, less = added(net, one.counter, constant(1, bits), bits), subtracted(net, one.counter, constant(1, bits), bits)
    net.follow(f"degree_{k}", net.select(up, more, net.select(down, less, one.counter)))


def _size(size: Any) -> tuple[int, int, int]:
    if not isinstance(size, Sequence) or len(size) != 3:
        raise wrong_value("", "size", "must be the cores, the records and the bits of a page", size, "4, 16, 12")
    for (name, most), number in zip(_LIMITS.items(), size, strict=True):
        if not 1 <= number <= most:
            raise wrong_value("", name, f"must be from 1 to {most} for a circuit", number, min(max(number, 1), most))
    return size[0], size[1], size[2]


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield news from a reset on, and which peer the policy asks; the counter is the degree of the bitmap."""
    cores, records, page_bits = _size(size)
    draw = Streams(seed)["news"]
    for _ in range(count):
        pages = draw.integers(0, 1 << page_bits, max(2, records + records // 2))
        yield list(_steps(policy, cores, records, pages, draw))


def _steps(policy: Any, cores: int, records: int, pages: Any, draw: Any) -> Iterator[Step]:
    table: dict[int, str] = {}
    for _ in range(STEPS):
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


MAKERS = [Maker("peer.first_bit", build, cases, size="cores, records and bits of a page")]
