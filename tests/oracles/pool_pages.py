"""A card whose memory is got by pages into segments: sets of page numbers, regions, and nothing else remembered.

Free is what is mapped and not in a region; all else follows from that, each time anew.
"""

from dataclasses import dataclass, field


@dataclass(eq=False)
class Region:
    address: int
    size: int


@dataclass(eq=False)
class Segment:
    base: int
    page: int
    small: bool
    span: int
    pages: set = field(default_factory=set)
    """Numbers of the pages that are mapped."""
    regions: list = field(default_factory=list)

    def empty(self):
        """Stretches of addresses that are in no region, as (from, to), the lowest first."""
        results, at = [], self.base
        for region in sorted(self.regions, key=lambda it: it.address):
            results.append((at, region.address))
            at = region.address + region.size
        return [(a, b) for a, b in [*results, (at, self.base + self.span)] if b > a]

    def under(self, start, end):
        """Numbers of the pages of which these addresses have a part."""
        return range((start - self.base) // self.page, -((self.base - end) // self.page))

    def free(self):
        """Stretches of addresses that are mapped and in no region."""
        result = []
        for start, end in self.empty():
            at = start
            for number in self.under(start, end):
                upto = min(self.base + (number + 1) * self.page, end)
                if number in self.pages and result and result[-1][1] == at:
                    result[-1] = (result[-1][0], upto)
                elif number in self.pages:
                    result.append((at, upto))
                at = upto
        return result


def together(numbers):
    """Numbers that follow upon one another, as lists."""
    result = []
    for number in sorted(numbers):
        if result and result[-1][-1] + 1 == number:
            result[-1].append(number)
        else:
            result.append([number])
    return result


class PagedCard:
    """One card; `got` is told of every call of the driver: address, bytes, and calls that map."""

    def __init__(self, number, capacity, cutting, got):
        self.number, self.capacity, self.cutting, self.got = number, capacity, cutting, got
        self.segments, self.next_address, self.last = [], 0, 0

    @property
    def held(self):
        return sum(region.size for segment in self.segments for region in segment.regions)

    @property
    def physical(self):
        return self.capacity - sum(len(segment.pages) * segment.page for segment in self.segments)

    longest = physical

    @property
    def cached(self):
        return self.capacity - self.physical - self.held

    def free_blocks(self, small):
        return [Region(start, end - start) for it in self.segments if it.small == small for start, end in it.free()]

    def place(self, size):
        """The lowest addresses with room that lack pages, and these; a new segment's if there are none."""
        need, small = self.cutting.need(size), self.cutting.small(size)
        for segment in self.segments:
            for start, end in segment.empty():
                pages = [it for it in segment.under(start, start + need) if it not in segment.pages]
                if segment.small == small and end - start >= need and pages:
                    return segment, start, pages
        page = self.cutting.page(small)
        span = -(-(self.capacity + self.capacity // 8) // page) * page
        segment = Segment(self.next_address, page, small, span)
        return segment, segment.base, list(segment.under(segment.base, segment.base + need))

    def missing(self, size):
        """Bytes of the pages that must be mapped for a request."""
        segment, _, pages = self.place(size)
        return len(pages) * segment.page

    def grown(self, size):
        """A free block with room, for which pages are mapped; None = the driver has too few."""
        segment, start, pages = self.place(size)
        if len(pages) * segment.page > self.physical:
            return None
        if segment not in self.segments:
            self.segments.append(segment)
            self.next_address += segment.span
        for run in together(pages):
            segment.pages |= set(run)
            self.got(self, segment.base + run[0] * segment.page, len(run) * segment.page, len(run) + 1)
        return next(Region(a, b - a) for a, b in segment.free() if a == start)

    def use(self, block, need):
        """Take the lower part of a free block."""
        segment = next(it for it in self.segments if it.base <= block.address < it.base + it.span)
        region = Region(block.address, self.cutting.parts(block.size, need, segment.small)[0])
        segment.regions.append(region)
        return region

    def give(self, region):
        for segment in self.segments:
            segment.regions = [it for it in segment.regions if it is not region]

    def unmap(self, excess):
        """Pages that are wholly free go back, the highest first, the large pool's before the small one's."""
        before = self.physical
        order = sorted(self.segments, key=lambda it: (it.small, -it.base))
        for segment in order:
            for start, end in reversed(segment.free()):
                left = excess - (self.physical - before)
                inside = [it for it in segment.under(start, end) if self.whole(segment, it, start, end)]
                gone = inside[max(len(inside) - max(-(-left // segment.page), 0), 0) :]
                if gone:
                    segment.pages -= set(gone)
                    self.got(self, segment.base + gone[0] * segment.page, -len(gone) * segment.page, len(gone))

    @staticmethod
    def whole(segment, number, start, end):
        return start <= segment.base + number * segment.page and segment.base + (number + 1) * segment.page <= end
