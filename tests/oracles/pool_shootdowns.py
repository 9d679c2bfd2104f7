"""What a pool's applications ask of their TLBs, worked out region by region from the sentences of the study."""

from __future__ import annotations

import math

from workbench.records.pool import OUTCOMES


def rows(record, page_bytes, accesses_per_mib, cores, clock_mhz, cards):
    """(nanosecond, 0 = access or 1 = unmap, core, page) in order; `cards` are those whose applications count."""
    pages, next_page, touched, found = {}, 0, set(), []
    freed = {
        int(record.allocation[row]): row
        for row in range(record.time.size)
        if OUTCOMES[record.outcome[row]] in ("released", "free_of_refused")
    }
    calls = [tuple(call) for call in record.calls.tolist()]
    for row in range(record.time.size):
        for _, card, address, size in [call for call in calls if call[0] == row and call[3] > 0]:
            count = math.ceil(size / page_bytes)
            pages[card, address] = next_page, size
            next_page += count

    def place(card, at, size):
        home = max(address for other, address in pages if other == card and address <= at)
        touched.add((card, home))
        first = pages[card, home][0] + (at - home) // page_bytes
        return first, pages[card, home][0] + (at - home + size - 1) // page_bytes - first + 1

    for row in range(record.time.size):
        own, size = int(record.borrower[row]), int(record.asked[row])
        if OUTCOMES[record.outcome[row]] in ("cached", "physical") and own in cards:
            moves = [move for move in record.moves.tolist() if move[1] == row]
            places = [(int(record.done[row]), *place(int(record.card[row]), int(record.identifier[row]), size))]
            for _, _, _, to, address, _, _, when in moves:
                found += [(when, 1, cards.index(own) * cores, places[-1][1] + k) for k in range(places[-1][2])]
                places.append((when, *place(to, address, size)))
            begin = int(record.done[row])
            end = int(record.time[freed[row]]) if row in freed else int(record.done[-1])
            count = max(math.ceil(size * accesses_per_mib / 2**20), 1)
            for k in range(count):
                when = begin + k * max(end - begin, 0) // count
                _, first, width = [it for it in places if it[0] <= when][-1]
                found.append((when, 0, cards.index(own) * cores + k % cores, first + k * width // count))
    for row, card, address, size in [call for call in calls if call[3] < 0]:
        if (card, address) in touched:
            own = int(record.borrower[row])
            core = cards.index(own) * cores if own in cards else 0
            for k in range(math.ceil(-size / page_bytes)):
                found.append((int(record.done[row]), 1, core, pages[card, address][0] + k))
    return [(int(when * clock_mhz / 1000), kind, core, page) for when, kind, core, page in sorted(found)]
