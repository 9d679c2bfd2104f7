"""PyTorch's caching allocator as lists: every segment is a list of pieces, every search looks at all of them.

Written from what c10/cuda/CUDACachingAllocator.cpp does (2.1 to 2.10), before the compiled one and in another form: no
tree, no links, no numbers of blocks. Where PyTorch orders blocks by (stream, size, address), `min` does it here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KIB, MIB = 1 << 10, 1 << 20
FREE, USED, PENDING, UNMAPPED = "free", "used", "pending", "unmapped"
UNLIMITED = 1 << 62


@dataclass
class Rules:
    """The settings, as PyTorch holds them once it has read PYTORCH_ALLOC_CONF."""

    max_split: int = UNLIMITED
    rounding: int = 20 * MIB
    divisions: tuple[int, ...] = (0,) * 16
    gc: float = 0.0
    expandable: bool = False
    large_segment: int = 20 * MIB
    fraction: float | None = None
    card: int = 0
    """0 = the card never runs out."""
    searches_again: bool = False
    """Whether the pool is searched once more after all cached memory went back (it is not, as of 2.10)."""


@dataclass
class Piece:
    start: int
    size: int
    state: str = FREE
    born: int = 0
    """How often its pool had been searched when it became free."""
    use: int = 0
    """Whose use is awaited: a later user of the same place is another."""

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass
class Segment:
    owner: int
    small: bool
    base: int
    pieces: list[Piece]
    expandable: bool = False
    page: int = 0


@dataclass
class Allocator:
    rules: Rules
    private_of: tuple[int, ...] = (0,)
    """The private pool of each owner; an owner is a stream within a pool."""
    segments: list[Segment] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)
    """What the driver was asked for: (address, bytes), bytes below zero where they went back."""
    searches: dict[tuple[int, bool], int] = field(default_factory=dict)
    freeable: set[int] = field(default_factory=set)
    next_address: int = 0
    supplied: list[tuple[int, int]] = field(default_factory=list)
    """(bytes, address): where the driver will give the next segments of this request."""

    # sizes

    def rounded(self, size):
        if size < 512:
            return 512
        divisions = self.rules.divisions[min(max(size.bit_length() - 21, 0), 15)]
        if divisions > 1 and size > 512 * divisions:
            if size & (size - 1) == 0:
                return size
            floor = 1 << (size.bit_length() - 1)
            step = floor >> (divisions.bit_length() - 1)
            return 2 * floor if step == 0 else -(-size // step) * step
        return -(-size // 512) * 512

    def segment_size(self, size):
        if size <= MIB:
            return 2 * MIB
        if size < 10 * MIB:
            return self.rules.large_segment
        return -(-size // (2 * MIB)) * 2 * MIB

    # what there is

    def reserved(self):
        return sum(p.size for s in self.segments for p in s.pieces if p.state != UNMAPPED)

    def allowed(self):
        return int(self.rules.fraction * self.rules.card) if self.rules.fraction is not None else None

    def free_pieces(self, owner, small):
        """(piece, segment) of one pool, in PyTorch's order."""
        mine = [s for s in self.segments if s.owner == owner and s.small == small]
        rows = [(p, s) for s in mine for p in s.pieces if p.state == FREE]
        return sorted(rows, key=lambda each: (each[0].size, each[0].start))

    def whole(self, segment):
        return len(segment.pieces) == 1 and not segment.expandable

    def counter(self, owner, small):
        return self.searches.get((self.private_of[owner], small), 0)

    # requests

    def malloc(self, owner, size):
        """The address, None = out of memory."""
        size = self.rounded(size)
        small = size <= MIB
        result = self.search(owner, small, size) or self.obtain(owner, small, size)
        if result is None:
            return None
        piece, segment = result
        rest = piece.size - size
        if self.splits(small, size, rest):
            at = segment.pieces.index(piece)
            left = Piece(piece.start + size, rest, FREE, self.counter(owner, small))
            segment.pieces.insert(at + 1, left)
            piece.size = size
        piece.state = USED
        return piece.start

    def splits(self, small, size, rest):
        if small or self.rules.expandable:
            return rest >= 512
        return size < self.rules.max_split and rest > MIB

    def free(self, address):
        segment, piece = self.find(address)
        self.settle(segment, piece)

    def defer(self, address, use):
        """The application is done with a block that another stream still uses."""
        piece = self.find(address)[1]
        piece.state, piece.use = PENDING, use

    def complete(self, address, use):
        segment, piece = self.find(address)
        if piece is not None and piece.state == PENDING and piece.use == use:
            self.settle(segment, piece)

    def empty_cache(self):
        for segment in list(self.segments):
            for piece in [p for p in segment.pieces if p.state == PENDING]:
                self.settle(segment, piece)
        order = [s for s in self.segments if self.private_of[s.owner] == 0 or self.private_of[s.owner] in self.freeable]
        for segment in order:
            if segment.expandable:
                before = len(self.calls)
                for piece in [p for p in segment.pieces if p.state == FREE]:
                    self.unmap(segment, piece)
                if len(self.calls) > before and all(p.state == UNMAPPED for p in segment.pieces):
                    self.segments.remove(segment)
            elif self.whole(segment) and segment.pieces[0].state == FREE:
                self.release(segment)

    def give_back(self, address):
        """Let one segment go if it is wholly free: what a recording says that was given back."""
        for segment in self.segments:
            if segment.base == address and self.whole(segment) and segment.pieces[0].state == FREE:
                self.release(segment)
                return

    # the insides

    def find(self, address):
        for segment in self.segments:
            for piece in segment.pieces:
                if piece.start == address and piece.state in (USED, PENDING):
                    return segment, piece
        return None, None

    def settle(self, segment, piece):
        """A piece becomes free and one with its free neighbours."""
        piece.state = FREE
        piece.born = self.counter(segment.owner, segment.small)
        self.join(segment)

    def join(self, segment):
        """Make one of neighbours that are alike; the younger birth is that of the join."""
        joined: list[Piece] = []
        for piece in segment.pieces:
            last = joined[-1] if joined else None
            if last and last.state == piece.state and piece.state in (FREE, UNMAPPED):
                last.size += piece.size
                last.born = self.counter(segment.owner, segment.small)
            else:
                joined.append(piece)
        segment.pieces = joined

    def search(self, owner, small, size):
        if self.rules.fraction is not None and self.rules.gc > 0:
            key = self.private_of[owner], small
            self.searches[key] = self.searches.get(key, 0) + 1
        ordered = [each for each in self.free_pieces(owner, small) if each[0].size >= size]
        if not ordered:
            return None
        at = 0
        if ordered[0][1].expandable:
            if self.rules.expandable:
                while (
                    ordered[at][1].expandable
                    and at + 1 < len(ordered)
                    and self.room(*ordered[at + 1]) < self.room(*ordered[at])
                ):
                    at += 1
            else:
                while at < len(ordered) and ordered[at][1].expandable:
                    at += 1
                if at == len(ordered):
                    return None
        piece = ordered[at][0]
        most = self.rules.max_split
        if size < most <= piece.size:
            return None
        if size >= most and piece.size >= size + self.rules.rounding:
            return None
        return ordered[at]

    def room(self, piece, segment):
        """What a free piece could grow to."""
        after = segment.pieces.index(piece) + 1
        grows = after < len(segment.pieces) and segment.pieces[after].state == UNMAPPED
        return piece.size + (segment.pieces[after].size if grows else 0)

    def obtain(self, owner, small, size):
        if self.rules.fraction is not None and self.rules.gc > 0:
            self.collect()
        result = self.ask_driver(owner, small, size)
        if result is None and self.release_oversize(owner, small, size):
            result = self.ask_driver(owner, small, size)
        if result is None and self.private_of[owner] == 0:
            self.empty_cache()
            if self.rules.searches_again:
                result = self.search(owner, small, size)
            result = result or self.ask_driver(owner, small, size)
        return result

    def ask_driver(self, owner, small, size):
        length = self.segment_size(size)
        allowed = self.allowed()
        if allowed is not None and self.reserved() + length > allowed:
            return None
        if self.rules.expandable:
            return self.expand(owner, small, size)
        if self.rules.card and self.reserved() + length > self.rules.card:
            return None
        base = self.place(length)
        segment = Segment(owner, small, base, [Piece(base, length)])
        self.segments.append(segment)
        self.calls.append((base, length))
        return segment.pieces[0], segment

    def place(self, length):
        for k, (size, address) in enumerate(self.supplied):
            if size == length:
                del self.supplied[: k + 1]
                return address
        base = self.next_address
        self.next_address += -(-length // (2 * MIB)) * 2 * MIB
        return base

    def release(self, segment):
        self.segments.remove(segment)
        self.calls.append((segment.base, -segment.pieces[0].size))

    def collect(self):
        """garbage_collection_threshold: let go what was not used for longer than the average."""
        target = self.reserved() - int(self.rules.gc * self.allowed())
        if target <= 0:
            return
        now = self.searches.get((0, False), 0)

        def idle():
            return [
                s
                for s in self.segments
                if not s.small and self.private_of[s.owner] == 0 and self.whole(s) and s.pieces[0].state == FREE
            ]

        count, ages, gone = len(idle()), sum(now - s.pieces[0].born for s in idle()), 0
        while gone < target and count:
            average, old = ages / count, 0
            for segment in idle():
                age = now - segment.pieces[0].born
                if age >= average:
                    gone += segment.pieces[0].size
                    ages, count, old = ages - age, count - 1, old + 1
                    self.release(segment)
            if not old:
                return

    def release_oversize(self, owner, small, size):
        """release_available_cached_blocks: only blocks that may not be split, and no more than needed."""
        most = self.rules.max_split
        if most == UNLIMITED:
            return False
        key = max(size, most)
        ordered = self.free_pieces(owner, small)
        first = next((k for k, (piece, _) in enumerate(ordered) if piece.size >= key), len(ordered))
        if first < len(ordered) and not ordered[first][1].expandable:
            # PyTorch gives the block back even if it is a piece of a segment that is not free as a whole; a block of
            # such a size is never split, so it is one.
            if self.whole(ordered[first][1]):
                self.release(ordered[first][1])
                return True
            return False
        gone = 0
        for piece, segment in reversed(ordered[:first]):
            if gone >= key or piece.size < most:
                break
            if not segment.expandable and self.whole(segment):
                gone += piece.size
                self.release(segment)
        return gone >= key

    # expandable segments

    def expand(self, owner, small, size):
        segment, at = self.find_room(owner, small, size)
        piece = segment.pieces[at]
        if piece.state == UNMAPPED and not self.map(segment, piece, min(piece.size, size)):
            return None
        piece = self.piece_over(segment, piece.start)
        while piece.size < size:
            after = segment.pieces[segment.pieces.index(piece) + 1]
            if not self.map(segment, after, min(size - piece.size, after.size)):
                return None
            piece = self.piece_over(segment, after.start)
        return piece, segment

    def piece_over(self, segment, address):
        return next(p for p in segment.pieces if p.start <= address < p.start + p.size)

    def find_room(self, owner, small, size):
        mine = [s for s in self.segments if s.expandable and s.owner == owner and s.small == small]
        for segment in sorted(mine, key=lambda s: s.base):
            for at, piece in enumerate(segment.pieces):
                if piece.state != UNMAPPED:
                    continue
                begin = at - 1 if at and segment.pieces[at - 1].state == FREE else at
                total, k = 0, begin
                while total < size and k < len(segment.pieces) and segment.pieces[k].state in (FREE, UNMAPPED):
                    total += segment.pieces[k].size
                    k += 1
                if total >= size:
                    return segment, begin
        page = 2 * MIB if small else self.rules.large_segment
        card = self.rules.card or 1 << 40
        length = -(-(card + card // 8) // page) * page
        base = self.supplied[0][1] if self.supplied else self.next_address
        if not self.supplied:
            self.next_address += -(-length // (2 * MIB)) * 2 * MIB
        segment = Segment(owner, small, base, [Piece(base, length, UNMAPPED)], True, page)
        self.segments.append(segment)
        return segment, 0

    def map(self, segment, piece, size):
        length = -(-size // segment.page) * segment.page
        if self.rules.card and self.reserved() + length > self.rules.card:
            return False
        at = segment.pieces.index(piece)
        if length < piece.size:
            segment.pieces.insert(at + 1, Piece(piece.start + length, piece.size - length, UNMAPPED))
        self.calls.append((piece.start, length))
        piece.size, piece.state, piece.born = length, FREE, self.counter(segment.owner, segment.small)
        self.join(segment)
        return True

    def unmap(self, segment, piece):
        page, base = segment.page, segment.base
        begin = base + -(-(piece.start - base) // page) * page
        end = base + (piece.start + piece.size - base) // page * page
        if begin >= end:
            return
        now = self.counter(segment.owner, segment.small)
        parts = [
            Piece(piece.start, begin - piece.start, FREE, now),
            Piece(begin, end - begin, UNMAPPED),
            Piece(end, piece.start + piece.size - end, FREE, now),
        ]
        at = segment.pieces.index(piece)
        segment.pieces[at : at + 1] = [p for p in parts if p.size]
        self.calls.append((begin, begin - end))
        self.join(segment)
