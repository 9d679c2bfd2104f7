"""RMM's pool and arena once more, in another form: nothing is kept but what is live and to whom free bytes belong.

The pool's memory is a row of bytes, of which runs are looked for; the arena's free memory is computed from the live
blocks whenever it is needed. Slow, and shares no code with `advice.rmm`.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

MIB = 1 << 20


class SlowPool:
    """RMM's pool as rows of bytes: one row a block of the driver, one byte a byte of memory.

    A byte is 0 where it is in use, else the number of the stream whose list it is free in. A row is never joined with
    another, as RMM joins no block with the first one of another allocation of the upstream. The version is asked where
    a rule depends on it, by the changes that `DEVIATIONS.md` names.
    """

    def __init__(self, initial, card=None, maximum=None, version=(26, 8)):
        self.rows, self.starts, self.calls, self.version = [], [], [], version
        self.card, self.tried = card, 0
        self.maximum = card // 256 * 256 if maximum is None and version < (0, 17) else maximum
        self.numbers, self.order = {-1: 1}, [-1]
        self.built = initial == 0 or self.upstream(initial, 1)

    def number(self, stream):
        if stream not in self.order:
            self.order.append(stream)
        return self.numbers.setdefault(stream, len(self.numbers) + 1)

    def upstream(self, size, number):
        """Whether the driver had the bytes."""
        self.tried += 1
        if self.card is not None and sum(self.calls) + size > self.card:
            return False
        self.starts.append(sum(self.calls) + 256 * len(self.calls))
        self.calls.append(size)
        self.rows.append(bytearray([number]) * size)
        return True

    def best(self, size, number):
        """The shortest run of a stream that is long enough, of equal ones the lowest: row, begin and end."""
        runs = (
            (run.end() - run.start(), row, run.start())
            for row, memory in enumerate(self.rows)
            for run in re.finditer(re.escape(bytes([number])) + b"{%d,}" % size, memory)
        )
        return min(runs, default=None)

    def use(self, size, number):
        """The address of the best run of a stream, of which the lower end is used; None = it has no run."""
        run = self.best(size, number)
        if run is None:
            return None
        _, row, begin = run
        self.rows[row][begin : begin + size] = bytes(size)
        return self.starts[row] + begin

    def hand_over(self, owner, stream):
        old, new = bytes([self.number(owner)]), bytes([self.number(stream)])
        self.rows = [memory.replace(old, new) for memory in self.rows]
        self.order.remove(owner)

    def allocate(self, stream, size):
        if not self.built:
            return -1
        own = self.number(stream)
        others = [it for it in self.order if it != stream]
        for owner in [stream, *others]:
            address = self.use(size, self.number(owner))
            if address is not None:
                if owner != stream and self.version < (21, 10):  # rmm#851
                    self.hand_over(owner, stream)
                return address
        for owner in others if self.version >= (0, 16) else []:  # rmm#532
            self.hand_over(owner, stream)
            address = self.use(size, own)
            if address is not None:
                return address
        return self.use(size, own) if self.grow(size, own) else -1

    def grow(self, size, own):
        """Whether the pool grew by the request at least."""
        has = sum(self.calls)
        if self.maximum is None:
            wanted = size if size > has else has
        else:
            remaining = math.ceil((self.maximum - has) / 256) * 256
            if size > remaining:
                return False
            wanted = size if size > remaining // 2 else remaining // 2
        while not self.upstream(wanted, own):
            if wanted == size or self.version < (0, 17):  # rmm#601
                return False
            wanted = max(wanted // 2, size)
        return True

    def free(self, stream, address, size):
        row = max(k for k, start in enumerate(self.starts) if start <= address)
        begin = address - self.starts[row]
        self.rows[row][begin : begin + size] = bytes([self.number(stream)]) * size


class SlowArena:
    def __init__(self, size):
        self.supers, self.live, self.calls = [(0, size, "global")], [], [size]

    def holes(self, start, end):
        at, result = start, []
        for begin, stop in sorted(it for it in self.live if start <= it[0] < end):
            if begin > at:
                result.append((at, begin))
            at = stop
        return [*result, (at, end)] if at < end else result

    def empty(self, it):
        return self.holes(it[0], it[1]) == [(it[0], it[1])]

    def first(self, owner, size):
        for it in sorted(self.supers):
            if it[2] == owner:
                for begin, stop in self.holes(it[0], it[1]):
                    if stop - begin >= size:
                        return it, begin
        return None, None

    def tidy(self):
        """Join empty neighbours that are global."""
        again = True
        while again:
            again = False
            order = sorted(self.supers)
            for one, other in pairwise(order):
                if one[2] == other[2] == "global" and self.empty(one) and self.empty(other):
                    self.supers.remove(one)
                    self.supers.remove(other)
                    self.supers.append((one[0], other[1], "global"))
                    again = True
                    break

    def try_once(self, stream, size):
        if size <= MIB:
            it, begin = self.first(stream, size)
            if it is not None:
                return begin
        it, begin = self.first("global", size)
        if it is None:
            return None
        owner = "global" if size > MIB else stream
        self.supers.remove(it)
        least = max(MIB, size)
        if self.empty(it) and it[1] - it[0] >= least + MIB:
            self.supers.append((it[0] + least, it[1], "global"))
            it = (it[0], it[0] + least, owner)
        self.supers.append((it[0], it[1], owner))
        return begin

    def allocate(self, stream, size):
        begin = self.try_once(stream, size)
        if begin is None:
            self.supers = [(a, b, "global") for a, b, _ in self.supers]
            self.tidy()
            begin = self.try_once(stream, size)
        if begin is None:
            return -1
        self.live.append((begin, begin + size))
        return begin

    def free(self, stream, address, size):
        self.live.remove((address, address + size))
        it = next(it for it in self.supers if it[0] <= address < it[1])
        if it[2] == "global":
            self.tidy()
