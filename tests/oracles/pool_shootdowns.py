"""What a pool's applications ask of their TLBs, worked out region by region from the sentences of the study."""

from __future__ import annotations

import math

from workbench.records.pool import OUTCOMES


def ranges_of(record):
    """[card, from, to] of the addresses that a driver mapped, in the order of their first call; what a region joins, or
    what is mapped again, is one."""
    result = []
    alone = [OUTCOMES[it] in ("cached", "physical") for it in record.outcome]
    lain = [(record.card, record.identifier, record.asked, row) for row in range(record.time.size) if alone[row]]
    pieces = [(card, at, size) for _, card, at, size in record.calls.tolist() if size > 0]
    pieces += [tuple(int(column[row]) for column in columns) for *columns, row in lain]
    pieces += [(to, at, int(record.asked[of])) for _, of, _, to, at, *_ in record.moves.tolist() if alone[of]]
    for card, at, size in pieces:
        same = [it for it in result if it[0] == card and it[1] < at + size and at < it[2]] or [[card, at, at + size]]
        whole = [card, min(at, *(it[1] for it in same)), max(at + size, *(it[2] for it in same))]
        place = result.index(same[0]) if same[0] in result else len(result)
        result[place : place + 1] = [whole]
        result = [it for it in result if it not in same[1:]]
    return result


def rows(record, page_bytes, accesses_per_mib, cores, clock_mhz, cards):
    """(nanosecond, 0 = access or 1 = unmap, core, page) in order; `cards` are those whose applications count."""
    pages, next_page, touched, results = {}, 0, set(), []
    for card, at, until in ranges_of(record):
        pages[card, at] = next_page, until
        next_page += math.ceil((until - at) / page_bytes)
    freed = {
        int(record.allocation[row]): row
        for row in range(record.time.size)
        if OUTCOMES[record.outcome[row]] in ("released", "free_of_refused")
    }
    calls = [tuple(call) for call in record.calls.tolist()]

    def home_of(card, at):
        return next(begin for (other, begin), (_, until) in pages.items() if other == card and begin <= at < until)

    def place(card, at, size):
        home = home_of(card, at)
        touched.add((card, home))
        first = pages[card, home][0] + (at - home) // page_bytes
        return first, pages[card, home][0] + (at - home + size - 1) // page_bytes - first + 1

    for row in range(record.time.size):
        own, size = int(record.borrower[row]), int(record.asked[row])
        if OUTCOMES[record.outcome[row]] in ("cached", "physical") and own in cards:
            moves = [move for move in record.moves.tolist() if move[1] == row]
            places = [(int(record.done[row]), *place(int(record.card[row]), int(record.identifier[row]), size))]
            for _, _, _, to, address, _, _, when in moves:
                results += [(when, 1, cards.index(own) * cores, places[-1][1] + k) for k in range(places[-1][2])]
                places.append((when, *place(to, address, size)))
            begin = int(record.done[row])
            end = int(record.time[freed[row]]) if row in freed else int(record.done[-1])
            count = max(math.ceil(size * accesses_per_mib / 2**20), 1)
            for k in range(count):
                when = begin + k * max(end - begin, 0) // count
                _, first, width = [it for it in places if it[0] <= when][-1]
                results.append((when, 0, cards.index(own) * cores + k % cores, first + k * width // count))
    for row, card, address, size in [call for call in calls if call[3] < 0]:
        home = home_of(card, address)
        if (card, home) in touched:
            own = int(record.borrower[row])
            core = cards.index(own) * cores if own in cards else 0
            for k in range((address - home) // page_bytes, math.ceil((address - size - home) / page_bytes)):
                results.append((int(record.done[row]), 1, core, pages[card, home][0] + k))
    return [(int(when * clock_mhz / 1000), kind, core, page) for when, kind, core, page in sorted(results)]
