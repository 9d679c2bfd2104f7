"""RMM's pool and arena once more, in another form: nothing is kept but what is live and to whom free bytes belong.

The pool's free memory is a list of (start, end, stream) that is joined by brute force after every request; the arena's
is computed from the live blocks whenever it is needed. Slow, and shares no code with `advice.rmm`.
"""

from __future__ import annotations

from itertools import pairwise

MIB = 1 << 20


class SlowPool:
    def __init__(self, initial):
        self.pieces, self.order, self.total, self.end, self.calls = [], [0], initial, 0, []
        self.upstream(initial, 0)

    def upstream(self, size, stream):
        self.calls.append(size)
        self.pieces.append((self.end, self.end + size, stream))
        self.end += size + 7
        return self.pieces[-1]

    def joined(self):
        changed = True
        while changed:
            changed = False
            for one in self.pieces:
                for other in self.pieces:
                    if one[1] == other[0] and one[2] == other[2]:
                        self.pieces.remove(one)
                        self.pieces.remove(other)
                        self.pieces.append((one[0], other[1], one[2]))
                        changed = True
                        break
                if changed:
                    break

    def best(self, size, stream):
        fitting = [it for it in self.pieces if it[2] == stream and it[1] - it[0] >= size]
        return min(fitting, key=lambda it: (it[1] - it[0], it[0]), default=None)

    def cut(self, piece, size):
        self.pieces.remove(piece)
        if piece[1] - piece[0] > size:
            self.pieces.append((piece[0] + size, piece[1], piece[2]))
        return piece[0]

    def allocate(self, stream, size):
        if stream not in self.order:
            self.order.append(stream)
        others = [it for it in self.order if it != stream]
        for owner in [stream, *others]:
            if (piece := self.best(size, owner)) is not None:
                return self.cut(piece, size)
        for owner in others:
            self.pieces = [(a, b, stream if it == owner else it) for a, b, it in self.pieces]
            self.order.remove(owner)
            self.joined()
            if (piece := self.best(size, stream)) is not None:
                return self.cut(piece, size)
        piece = self.upstream(max(size, self.total), stream)
        self.total += piece[1] - piece[0]
        return self.cut(piece, size)

    def free(self, stream, address, size):
        if stream not in self.order:
            self.order.append(stream)
        self.pieces.append((address, address + size, stream))
        self.joined()


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
