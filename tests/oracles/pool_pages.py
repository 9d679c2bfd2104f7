"""What a pool's applications ask of their TLBs, worked out region by region from the sentences of the study."""

from __future__ import annotations

import math

from workbench.records.pool import OUTCOMES


def rows(record, page_bytes, accesses_per_mib, cores, clock_mhz, cards):
    """(nanosecond, 0 = access or 1 = unmap, core, page) in order; `cards` are those whose applications count."""
    pages, next_page, touched, found, holders = {}, 0, set(), [], {}
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
        own = int(record.borrower[row])
        if OUTCOMES[record.outcome[row]] in ("cached", "physical") and own in cards:
            card, at, size = (int(column[row]) for column in (record.card, record.identifier, record.asked))
            home = max(address for other, address in pages if other == card and address <= at)
            touched.add((card, home))
            first = pages[card, home][0] + (at - home) // page_bytes
            last = pages[card, home][0] + (at - home + size - 1) // page_bytes
            begin = int(record.done[row])
            end = int(record.time[freed[row]]) if row in freed else int(record.done[-1])
            count = max(math.ceil(size * accesses_per_mib / 2**20), 1)
            for k in range(count):
                when = begin + k * max(end - begin, 0) // count
                core = cards.index(own) * cores + k % cores
                found.append((when, 0, core, first + k * (last - first + 1) // count))
            holders[row] = home
    for row, card, address, size in [call for call in calls if call[3] < 0]:
        if (card, address) in touched:
            own = int(record.borrower[row])
            core = cards.index(own) * cores if own in cards else 0
            for k in range(math.ceil(-size / page_bytes)):
                found.append((int(record.done[row]), 1, core, pages[card, address][0] + k))
    return [(int(when * clock_mhz / 1000), kind, core, page) for when, kind, core, page in sorted(found)]
