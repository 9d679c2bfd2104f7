"""Cards as lists of bytes, written from the sentences of spec 5: every byte has an owner; nothing is searched cleverly.

A card is a list with one entry a byte: None (the driver's), or (driver allocation, block, whether it is in use).
"""


class PlainCard:
    """One card with a best-fit cache that splits and joins within a driver allocation."""

    def __init__(self, size, limit=None, keeps=True):
        self.bytes = [None] * size
        self.limit, self.keeps = limit, keeps
        self.count = 0
        self.idle = []

    def runs(self, wanted):
        """(start, length) of each run of bytes whose entries are alike and wanted, in order."""
        found, start = [], None
        for at, entry in enumerate([*self.bytes, "end"]):
            if start is not None and (at == len(self.bytes) or entry != self.bytes[start]):
                found.append((start, at - start))
                start = None
            if start is None and at < len(self.bytes) and wanted(entry):
                start = at
        return found

    def cached(self):
        return self.runs(lambda entry: entry is not None and not entry[2])

    def physical(self):
        return self.runs(lambda entry: entry is None)

    def free(self):
        return sum(length for _, length in self.cached() + self.physical())

    def serves(self, size):
        return any(length >= size for _, length in self.cached() + self.physical())

    def take(self, size):
        fitting = sorted((length, start) for start, length in self.cached() if length >= size)
        if fitting:
            start = fitting[0][1]
            self.fill(start, size, self.bytes[start][0], True)
            return start, True
        room = [start for start, length in self.physical() if length >= size]
        if not room:
            return None
        self.count += 1
        self.fill(room[0], size, self.count, True)
        return room[0], False

    def give_back(self, start):
        owner = self.bytes[start]
        block = [at for at, entry in enumerate(self.bytes) if entry == owner]
        self.fill(block[0], len(block), owner[0], False)
        if self.wholly_cached(owner[0]):
            self.idle.append(owner[0])
            if not self.keeps:
                self.to_driver(owner[0])
        self.idle = [it for it in self.idle if self.wholly_cached(it)]
        while self.limit is not None and self.idle and sum(length for _, length in self.cached()) > self.limit:
            self.to_driver(self.idle.pop(0))

    def wholly_cached(self, origin):
        own = [entry for entry in self.bytes if entry is not None and entry[0] == origin]
        return bool(own) and not any(entry[2] for entry in own)

    def to_driver(self, origin):
        self.bytes = [None if entry is not None and entry[0] == origin else entry for entry in self.bytes]

    def fill(self, start, length, origin, in_use):
        """Give bytes an owner; what is cached of one driver allocation is one block wherever it touches."""
        self.count += 1
        for at in range(start, start + length):
            self.bytes[at] = (origin, self.count if in_use else -origin, in_use)
        self.idle = [it for it in self.idle if self.wholly_cached(it)]


class PlainBoard:
    """Several cards; a card lends by bandwidth, or by free memory, the lowest of equal ones."""

    def __init__(self, sizes, gbps, by="gbps", **levers):
        self.cards = [PlainCard(size, **levers) for size in sizes]
        self.gbps, self.by = gbps, by

    def alloc(self, borrower, size):
        if self.cards[borrower].serves(size):
            return (borrower, *self.cards[borrower].take(size))
        able = [k for k, card in enumerate(self.cards) if k != borrower and card.serves(size)]
        if not able:
            return None
        if self.by == "gbps":
            best = max(able, key=lambda k: (self.gbps[k][borrower], -k))
        else:
            free = {
                k: sum(length for _, length in card.cached() + card.physical()) for k, card in enumerate(self.cards)
            }
            best = max(able, key=lambda k: (free[k], -k))
        return (best, *self.cards[best].take(size))
