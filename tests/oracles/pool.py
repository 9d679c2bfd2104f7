"""The memory pool as a service in plain Python: lists of blocks, no index, no arrays (spec 5)."""

import math
from dataclasses import dataclass, field

from tests.oracles.pool_granules import Granules
from tests.oracles.pool_moves import Places
from tests.oracles.pool_pages import PagedCard
from tests.oracles.pool_paths import best_path, sum_of_paths
from tests.oracles.pool_questions import Cutting, Scores, fit, idle
from workbench.streams import Streams

OUTCOMES = ("cached", "physical", "stitched", "refused", "misjudged", "released")
OUTCOMES += ("unknown_free", "repeated_free", "free_of_refused", "never_asked")
LOCAL_GBPS = 5000.0


@dataclass(eq=False)
class Block:
    small: bool
    address: int
    size: int
    origin: "Origin"
    used: bool = False


@dataclass(eq=False)
class Origin:
    address: int
    size: int
    small: bool
    idle_since: int = -1


@dataclass
class Card:
    number: int
    capacity: int
    cutting: Cutting
    blocks: list = field(default_factory=list)
    """Every block of the card by address."""
    origins: list = field(default_factory=list)
    next_address: int = 0
    last: int = 0
    clock: int = 0
    granules: Granules | None = None
    """What the driver has, where that must lie in one run."""

    @property
    def cached(self):
        return sum(block.size for block in self.blocks if not block.used)

    @property
    def held(self):
        return sum(block.size for block in self.blocks if block.used)

    @property
    def physical(self):
        return self.granules.bytes if self.granules else self.capacity - sum(origin.size for origin in self.origins)

    @property
    def longest(self):
        """Bytes that the driver can give at once."""
        return self.granules.longest if self.granules else self.physical

    def wholly_cached(self):
        """Driver allocations of which nothing is in use, in the order in which they became so."""
        busy = {id(block.origin) for block in self.blocks if block.used}
        return sorted((it for it in self.origins if id(it) not in busy), key=lambda it: it.idle_since)


class Service:
    def __init__(self, board, policies, options, seed):
        self.board, self.policies, self.options = board, policies, options
        self.cutting = Cutting(policies["cache"])
        free = [it.memory_bytes - it.used_bytes for it in board.cards]
        kind = (lambda *card: PagedCard(*card, self.got)) if self.cutting.pages else Card
        self.cards = [kind(k, capacity, self.cutting) for k, capacity in enumerate(free)]
        self.mappings = {}
        if policies["driver"].layout == "contiguous":
            for card in self.cards:
                card.granules = Granules(policies["driver"], card.capacity, options.driver_granule)
        self.hosts = [it.kind == "cpu" for it in board.cards]
        streams = Streams(seed)
        self.terms = [
            (Scores(term, streams.integer(f"target/{k}")), weight)
            for k, (term, weight) in enumerate(policies["target"].terms())
        ]
        self.regions, self.lendings, self.calls, self.row, self.driver_ns, self.begin = {}, [], [], 0, 0, 0
        self.serving_since = 0
        self.places = Places(self)
        self.paths()

    def paths(self):
        """Bandwidth and hops between every two cards."""
        options, count = self.options, len(self.cards)
        direct = [[0.0] * count for _ in range(count)]
        ids = [it.id for it in self.board.cards]
        for link in self.board.links:
            one, other = (ids.index(end) for end in link.ends)
            direct[one][other] += link.gbps * link.count
            direct[other][one] = direct[one][other]
        self.direct = direct
        most = 1 if options.path_metric == "direct_only" else options.max_hops
        factor = options.hop_factor if options.path_metric == "hop_penalised" else 1.0
        results = [[best_path(direct, a, b, most, factor) for b in range(count)] for a in range(count)]
        ranked = [[it[0] for it in row] for row in results]
        if options.path_metric == "sum_of_paths":
            apart = [(a, b) for a in range(count) for b in range(count) if a != b]
            for a, b in apart:
                ranked[a][b] = sum_of_paths(direct, a, b, most)
        self.gbps = [[LOCAL_GBPS if a == b else ranked[a][b] for b in range(count)] for a in range(count)]
        self.routes = [[it[1] for it in row] for row in results]
        self.hops = [[0 if a == b else len(results[a][b][1]) - 1 for b in range(count)] for a in range(count)]

    # requests

    def run(self, requests):
        """Every request in its order; what came of each, as rows of plain data."""
        rows, free_at = [], 0
        for number, request in enumerate(self.without_deaths(requests)):
            self.row = number
            self.begin = max(free_at, request[0]) + self.options.ipc_ns + self.options.service_ns
            row = self.answer(request)
            free_at = self.begin + row.pop("work")
            rows.append({**row, "time": request[0], "done": free_at, "waited": 0})
        return rows

    def answer(self, request):
        """What comes of a request, and the work of the driver and of zeroing for it."""
        _, app, card, action, handle, size = request
        self.driver_ns = 0
        row = self.allocate(app, card, handle, size) if action == 0 else self.free(app, handle)
        zeroed = self.options.zero_gbps and row["outcome"] in ("cached", "physical", "stitched")
        work = self.driver_ns + (int(self.reused(row) / self.options.zero_gbps) if zeroed else 0)
        return {"app": app, "handle": handle, "allocation": self.row, **row, "work": work}

    def reused(self, row):
        """Bytes of a grant that lay in the cache when it was made: all but what the driver gave for it, no matter what
        it gave for regions that the request moved."""
        if row["outcome"] != "physical":
            return row["taken"]
        got = [range(at, at + size) for _, card, at, size in self.calls[self.serving_since :] if card == row["card"]]
        mine = range(row["identifier"], row["identifier"] + row["taken"])
        fresh = (min(mine.stop, it.stop) - max(mine.start, it.start) for it in got)
        return row["taken"] - sum(bytes_ for bytes_ in fresh if bytes_ > 0)

    @staticmethod
    def without_deaths(requests):
        """For an application that dies, a free of each region that it has, in the order of allocation (E18)."""
        result, live = [], {}
        for row in requests:
            time, app, card, action, handle, _ = row
            if action == 2:
                gone = [(one, of) for one, of in live if one == app]
                result += [(time, app, card, 1, of, live.pop((one, of))) for one, of in gone]
                continue
            result.append(row)
            live.pop((app, handle), None)
            if action == 0:
                live[app, handle] = row[5]
        return result

    def allocate(self, app, own, handle, size):
        latest = {"row": self.row, "own": own, "size": size, "blocks": None, "freed": False}
        self.regions[app, handle] = latest
        target, metric = self.policies["target"], self.options.free_metric
        largest = metric == "largest_cached_or_physical"
        if target.own_first() and self.cards[own].capacity and (largest or self.room(self.cards[own], size)):
            result = self.serve(self.cards[own], size, True)
            if result or not largest:
                return self.granted(latest, result)
        if result := self.places.make_room(self.cards[own], size):
            return self.granted(latest, result)
        card = self.choose(own, size)
        if card is None:
            return {"outcome": "refused", "card": -1, "identifier": -1, "taken": 0}
        result = self.serve(self.cards[card], size, card == own)
        if result:
            self.note_lending(own, card, size)
        return self.granted(latest, result)

    def note_lending(self, own, card, size):
        if card != own:
            amount = size if self.options.history_weight == "bytes" else 1
            self.lendings.append((self.row, own, card, amount))
        for term, _ in self.terms:
            term.told(card, len(self.cards))

    def granted(self, latest, result):
        if not result:
            return {"outcome": "misjudged", "card": -1, "identifier": -1, "taken": 0}
        source, card, blocks = result
        latest["blocks"], latest["card"] = blocks, card
        self.places.live.append(latest)
        taken = sum(block.size for block in blocks)
        return {"outcome": source, "card": card.number, "identifier": blocks[0].address, "taken": taken}

    def free(self, app, handle):
        region = self.regions.get((app, handle))
        nothing = {"card": -1, "identifier": -1, "taken": 0}
        if region is None:
            return dict(outcome="unknown_free", allocation=-1, **nothing)
        if region["freed"]:
            return dict(outcome="repeated_free", allocation=-1, **nothing)
        region["freed"] = True
        if region["blocks"] is None:
            return dict(outcome="free_of_refused", allocation=region["row"], **nothing)
        card, blocks = region["card"], region["blocks"]
        row = {"outcome": "released", "card": card.number, "identifier": blocks[0].address}
        row["allocation"] = region["row"]
        row["taken"] = sum(block.size for block in blocks)
        self.unstitch(blocks)
        for block in blocks:
            self.give(card, block)
        self.places.live.remove(region)
        self.trim(card)
        self.places.bring_home(card)
        return row

    # one card

    def room(self, card, size):
        """Whether a card qualifies for a request (R10, R15, E1)."""
        _, least = self.cutting.segment(size, card.last, card.cached + card.held, card.longest)
        metric, need = self.options.free_metric, self.cutting.need(size)
        if metric == "sum_all":
            return card.cached + card.physical >= least
        if metric == "sum_cached_or_physical":
            return card.cached >= need or card.physical >= least
        if self.cached_block(card, size) is not None or card.longest >= least:
            return True
        if self.cutting.pages:
            return card.missing(size) <= card.physical
        return bool(self.cutting.stitches) and self.stitchable(card, size)

    def maps(self, calls):
        """Calls of the driver that map, set access or unmap."""
        self.mappings[self.row] = self.mappings.get(self.row, 0) + calls
        self.driver_ns += calls * self.options.driver_map_ns

    def got(self, card, address, size, maps):
        """Pages were mapped, or unmapped."""
        self.call(card, address, size)
        self.maps(maps)

    def idle_blocks(self, card, small):
        if self.cutting.pages:
            return card.free_blocks(small)
        return [block for block in card.blocks if not block.used and block.small == small]

    def cached_block(self, card, size):
        cached = self.idle_blocks(card, self.cutting.small(size))
        results = fit(self.policies["cache_fit"], [(b.size, b.address) for b in cached], self.cutting.need(size))
        return next((b for b in cached if (b.size, b.address) == results), None)

    def serve(self, card, size, own):
        need, self.serving_since = self.cutting.need(size), len(self.calls)
        if block := self.cached_block(card, size):
            return "cached", card, [self.use(card, block, need)]
        if self.cutting.stitches and self.stitchable(card, size):
            return "stitched", card, self.stitch(card, size)
        block = self.from_driver(card, size)
        if not block and own and self.cutting.flushes:
            self.flush(card)
            block = self.from_driver(card, size)
        return ("physical", card, [self.use(card, block, need)]) if block else None

    def placed(self, card, size):
        """Blocks for what comes from another card: a cached one, else from the driver."""
        block = self.cached_block(card, size) or self.from_driver(card, size)
        return [self.use(card, block, self.cutting.need(size))] if block else None

    def unstitch(self, blocks):
        """What was put together of several blocks is unmapped."""
        self.maps(sum(self.chunks(block) for block in blocks) if len(blocks) > 1 else 0)

    def flush(self, card):
        """Give back everything that can go; whether anything did."""
        before = card.physical
        if self.cutting.pages:
            card.unmap(card.cached)
        else:
            for origin in card.wholly_cached():
                self.to_driver(card, origin)
        return card.physical > before

    def from_driver(self, card, size):
        if self.cutting.pages:
            return card.grown(size)
        small, first = self.cutting.small(size), self.cutting.first(size)
        if first and not card.last and first + self.cutting.need(size) <= card.longest:
            self.allocated(card, first, small)
            card.clock += 1
            card.origins[-1].idle_since = card.clock
        want, _ = self.cutting.segment(size, card.last, card.cached + card.held, card.longest)
        return None if want > card.longest else self.allocated(card, want, small)

    def allocated(self, card, want, small):
        """A block that the driver gives."""
        origin = Origin(card.next_address, want, small)
        block = Block(small, origin.address, want, origin)
        card.origins.append(origin)
        if card.granules:
            card.granules.take(origin.address, want)
        card.blocks.append(block)
        card.next_address += want
        card.last = want
        self.call(card, origin.address, want)
        return block

    def to_driver(self, card, origin):
        card.origins.remove(origin)
        if card.granules:
            card.granules.give(origin.address)
        card.blocks = [block for block in card.blocks if block.origin is not origin]
        self.call(card, origin.address, -origin.size)

    def call(self, card, address, size):
        self.calls.append((self.row, card.number, address, size))
        options = self.options
        self.driver_ns += options.driver_alloc_ns if size > 0 else options.driver_free_ns
        self.driver_ns += options.driver_ns_per_mib * (abs(size) // (1 << 20))

    def use(self, card, block, need):
        if self.cutting.pages:
            return card.use(block, need)
        parts = self.cutting.parts(block.size, need, block.small)
        block.used, block.size, at = True, parts[0], card.blocks.index(block)
        address = block.address + block.size
        for k, size in enumerate(parts[1:], 1):
            card.blocks.insert(at + k, Block(block.small, address, size, block.origin))
            address += size
        return block

    def pieces(self, card, size):
        """The cached blocks that may be stitched for a request."""
        return [b for b in self.idle_blocks(card, self.cutting.small(size)) if b.size >= self.cutting.stitches]

    def stitchable(self, card, size):
        return sum(b.size for b in self.pieces(card, size)) >= self.cutting.need(size)

    def stitch(self, card, size):
        """The largest blocks, then the smallest that completes the request; each is mapped by chunks, and made
        accessible."""
        need, pieces, taken = self.cutting.need(size), self.pieces(card, size), []
        while need > 0:
            enough = [b for b in pieces if b.size >= need]
            block = min(enough, key=lambda b: (b.size, b.address)) if enough else None
            block = block or min(pieces, key=lambda b: (-b.size, b.address))
            pieces.remove(block)
            taken.append(self.use(card, block, min(need, block.size)))
            need -= taken[-1].size
        if len(taken) > 1:
            self.maps(sum(self.chunks(block) + 1 for block in taken))
        return taken

    def chunks(self, block):
        """Calls that map a part of a stitched region."""
        return math.ceil(block.size / self.policies["cache"].chunk)

    def give(self, card, block):
        if self.cutting.pages:
            card.give(block)
            return
        block.used = False
        joins = self.cutting.joins
        while joins != "apart" and (pair := self.joinable(card, block, joins)):
            low, high = pair
            low.size += high.size
            card.blocks.remove(high)
            block = low
        if not any(b.used for b in card.blocks if b.origin is block.origin):
            card.clock += 1
            block.origin.idle_since = card.clock

    @staticmethod
    def joinable(card, block, joins):
        """The block and a neighbour with which it may be joined, the lower one first."""
        of_origin = [b for b in card.blocks if b.origin is block.origin]
        at = of_origin.index(block)
        for k in (at, at - 1):
            if k < 0 or k + 1 >= len(of_origin) or of_origin[k].used or of_origin[k + 1].used:
                continue
            low, high = of_origin[k], of_origin[k + 1]
            halves = low.size == high.size and (low.address - block.origin.address) % (2 * low.size) == 0
            if joins == "neighbours" or halves:
                return low, high
        return None

    def trim(self, card):
        if self.cutting.name == "no_cache":
            for origin in card.wholly_cached():
                self.to_driver(card, origin)
            return
        policy = self.policies["idle_release"]
        limit = getattr(policy, "limit_bytes_a_card", math.inf)
        if self.cutting.pages:
            card.unmap(max(card.cached - limit, 0) if limit < math.inf else 0)
            return
        while card.cached > limit and (origins := card.wholly_cached()):
            self.to_driver(card, origins[idle(policy, card.cached - limit, [it.size for it in origins])])

    # other cards

    def choose(self, own, size, leaving=None):
        """The card that lends to `own`; what is `leaving` a card does not stay there, nor go where no path leads."""
        target, count = self.policies["target"], len(self.cards)
        may = [c for c in range(count) if c != own and (self.options.cpus_lend or not self.hosts[c])]
        may = [c for c in may if self.hops[c][own] >= 0]
        may = [c for c in may if leaving is None or (c != leaving and self.hops[c][leaving] >= 0)]
        may += [] if target.own_first() else [own]
        may = sorted(c for c in may if self.cards[c].capacity)
        cards = [c for c in may if not target.filters() or self.room(self.cards[c], size)]
        if not cards:
            return None
        free = [card.cached + card.physical for card in self.cards]
        seen = {
            "free": free,
            "gbps": [self.gbps[c][own] for c in range(count)],
            "hops": [self.hops[c][own] for c in range(count)],
            "lent": [self.lent(own, c) for c in range(count)],
            "held": [card.held for card in self.cards],
            "totals": [card.capacity for card in self.cards],
            "hosts": self.hosts,
            "ids": [it.id for it in self.board.cards],
            "size": self.cutting.need(size),
        }
        total = self.summed([(term.scores(cards, own, seen), weight) for term, weight in self.terms], target)
        if max(total) == -math.inf:
            return None
        best = [c for c, score in zip(cards, total, strict=True) if score == max(total)]
        return max(best, key=lambda c: free[c]) if self.options.target_tie == "most_free" else best[0]

    @staticmethod
    def summed(each, target):
        if len(each) == 1:
            return each[0][0]
        total = [0.0] * len(each[0][0])
        for scores, weight in each:
            largest = max(scores)
            scaled = [score / largest if target.normalises() and largest > 0 else score for score in scores]
            total = [sum_ + weight * score for sum_, score in zip(total, scaled, strict=True)]
        return total

    def lent(self, own, card):
        window = self.options.history_window or math.inf
        lately = (it for it in self.lendings if it[0] >= self.row - window)
        return float(sum(amount for _, one, other, amount in lately if (one, other) == (own, card)))
