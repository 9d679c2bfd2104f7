"""A slow, obvious twin of the engine `translation`: dicts, sets and lists, everything counted when it is asked for.

Written from the sentences of spec 4 (R1-R28, E1-E17) and of the levers; shares no code with the workbench.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.translation_policies import Eviction, Fill, Peer, copies
from tests.oracles.translation_time import Calendar, hops_between, way_of

PRIVATE, MERGED, PEER, SHARED, WALK = "private", "merged", "peer", "shared", "walk"


@dataclass
class Entry:
    page: int
    ready: int
    pusher: int | None


class CacheSet:
    """One set: its ways, the order of use and of insertion (oldest first), and a stack of free ways."""

    def __init__(self, ways: int) -> None:
        self.ways: list[Entry | None] = [None] * ways
        self.free = list(reversed(range(ways)))
        self.used: list[int] = []
        self.came: list[int] = []

    def way(self, page: int) -> int | None:
        return next((w for w, entry in enumerate(self.ways) if entry and entry.page == page), None)

    def use(self, way: int) -> None:
        self.used.remove(way)
        self.used.append(way)

    def put(self, entry: Entry) -> int:
        way = self.free.pop()
        self.ways[way] = entry
        self.used.append(way)
        self.came.append(way)
        return way

    def drop(self, way: int) -> Entry:
        entry = self.ways[way]
        assert entry is not None
        self.ways[way] = None
        self.used.remove(way)
        self.came.remove(way)
        self.free.append(way)
        return entry


class Tlb:
    """A TLB of several sets; a page's set is its number modulo the sets."""

    def __init__(self, entries: int, ways: int, eviction: Eviction, first_set: int = 0) -> None:
        ways = ways or entries
        count = entries // ways if entries else 1
        self.sets = [CacheSet(ways if entries else 0) for _ in range(count)]
        self.eviction, self.first_set = eviction, first_set

    def set_of(self, page: int) -> tuple[int, CacheSet]:
        k = page % len(self.sets)
        return self.first_set + k, self.sets[k]

    def find(self, page: int) -> Entry | None:
        _, one = self.set_of(page)
        way = one.way(page)
        return None if way is None else one.ways[way]

    def use(self, page: int) -> None:
        number, one = self.set_of(page)
        way = one.way(page)
        assert way is not None
        one.use(way)
        self.eviction.touched(number, way, len(one.ways), fresh=False)

    def put(self, entry: Entry) -> None:
        number, one = self.set_of(entry.page)
        way = one.put(entry)
        self.eviction.touched(number, way, len(one.ways), fresh=True)

    def drop(self, page: int) -> Entry:
        _, one = self.set_of(page)
        way = one.way(page)
        assert way is not None
        return one.drop(way)

    def pages(self) -> list[int]:
        return [entry.page for one in self.sets for entry in one.ways if entry]


@dataclass
class Levers:
    """Everything that a run is told."""

    machine: dict[str, Any]
    locate: str = "directory"
    scope: str = "oracle"
    affine_threshold: int = 3
    affine_fills: int = 32
    quota: int | None = None
    update: str = "instant"
    delay: int = 0
    look_up_cycles: int = 1
    parallel: bool = False
    tries: int = 1
    use_l2_bit: bool = False
    refreshes: bool = False
    reach: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    peer: Any = None
    fill: Any = None
    remote_fill: tuple[str, int] = ("always", 0)
    eviction: Any = None
    shared_eviction: Any = None
    warps: int = 0
    gap: int = 0
    inclusive: bool = False
    targeted: bool = True
    pages_an_entry: int = 1


@dataclass
class Told:
    """What came of a run."""

    served: dict[int, Counter[str]] = field(default_factory=dict)
    latencies: Counter[int] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    log: list[tuple[Any, ...]] = field(default_factory=list)
    by_window: list[tuple[int, str, int]] = field(default_factory=list)
    last_cycle: int = 0
    degrees: Counter[int] = field(default_factory=Counter)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)


class Twin:
    """One run, access by access."""

    def __init__(self, levers: Levers) -> None:
        self.levers, self.told = levers, Told()
        m = self.m = levers.machine
        self.cores = range(m["cores"])
        self.peer: Peer = levers.peer
        self.fill: Fill = levers.fill
        ways = m["private_ways"] or m["private_entries"]
        sets = m["private_entries"] // ways
        self.own = [Tlb(m["private_entries"], ways, levers.eviction, c * sets) for c in self.cores]
        self.behind = Tlb(m["shared_entries"], m["shared_ways"], levers.shared_eviction)
        members, entries, cluster_ways = levers.cluster
        count = -(-m["cores"] // members) if levers.locate == "clustered" else 0
        self.clusters = [Tlb(entries, cluster_ways, Eviction("lru")) for _ in range(count)]
        self.belief: list[dict[int, set[int]]] = [{} for _ in self.cores]
        self.given: dict[int, set[int]] = {}
        self.recorded: list[list[int]] = [[] for _ in self.cores]
        self.affine: list[set[int]] = [set() for _ in self.cores]
        self.since = [0] * m["cores"]
        self.news: list[tuple[int, int, int, bool]] = []
        self.ports = [[Calendar() for _ in range(m["private_ports"])] for _ in self.cores]
        self.banks = [[Calendar() for _ in range(m["shared_ports"])] for _ in range(m["shared_banks"])]
        self.links: dict[tuple[Any, ...], Calendar] = {}
        self.asked = [0] * m["cores"]
        self.walker_free = [0] * m["walkers"]
        self.walk_starts: list[int] = []
        self.upper: list[tuple[int, int]] = []
        self.missing: list[list[tuple[int, int | None]]] = [[] for _ in self.cores]
        self.stall = [0] * m["cores"]
        self.begun = False

    # who holds what

    def holders(self, page: int) -> set[int]:
        return {c for c in self.cores if self.own[c].find(page)}

    def record(self, core: int, page: int) -> set[int]:
        """The other cores that hold a page, as a core's directory knows it."""
        if self.levers.locate != "directory":
            return set()
        known = self.holders(page) if self.levers.update == "instant" else self.belief[core].get(page, set())
        return known - {core}

    def pair(self, core: int, peer: int) -> int:
        return sum(peer in self.record(core, page) for page in self.own[core].pages())

    def shared_with_any(self, core: int) -> int:
        return sum(bool(self.record(core, page)) for page in self.own[core].pages())

    def in_scope(self, core: int, page: int) -> bool:
        if self.levers.scope == "own_plus_affine":
            return bool(self.record(core, page) & self.affine[core])
        return self.levers.scope == "oracle"

    def has_record(self, core: int, page: int) -> bool:
        room = self.levers.quota is None or page in self.recorded[core]
        return self.in_scope(core, page) and room

    def note_record(self, core: int, page: int) -> None:
        if page in self.recorded[core]:
            self.recorded[core].remove(page)
        self.recorded[core].append(page)
        del self.recorded[core][: max(len(self.recorded[core]) - (self.levers.quota or 0), 0)]

    def hear(self, core: int, page: int, peer: int) -> None:
        """A directory of limited room hears that a peer, whose entries it covers, holds a page."""
        if self.levers.quota is None or self.own[core].find(page):
            return
        if self.levers.scope == "oracle" or (self.levers.scope == "own_plus_affine" and peer in self.affine[core]):
            self.note_record(core, page)

    def learn(self, core: int, page: int, peer: int) -> None:
        self.belief[core].setdefault(page, set()).add(peer)
        self.hear(core, page, peer)

    def unlearn(self, core: int, page: int, peer: int) -> None:
        self.belief[core].get(page, set()).discard(peer)

    def tell(self, core: int, page: int, now: int, came: bool) -> None:
        """The other directories are told that a page came to a core, or left it."""
        levers = self.levers
        if levers.locate != "directory" or levers.update == "on_response":
            return
        others = set(self.cores) - {core}
        interested = {
            "oracle": others,
            "own_only": {c for c in others if self.own[c].find(page)},
            "own_plus_affine": {c for c in others if self.own[c].find(page) or core in self.affine[c]},
        }
        self.told.messages["update"] += len(interested[levers.scope])
        if levers.update == "message":
            self.news.append((now + levers.delay, page, core, came))
        elif came:
            for other in sorted(others):
                self.hear(other, page, core)

    def deliver(self, now: int) -> None:
        while self.news and self.news[0][0] <= now:
            _, page, core, came = self.news.pop(0)
            for other in self.cores:
                if other != core:
                    (self.learn if came else self.unlearn)(other, page, core)

    # entries come and go

    def put_private(self, core: int, page: int, ready: int, pusher: int | None, now: int) -> None:
        number, one = self.own[core].set_of(page)
        if not one.free:
            degrees = [1 + len(self.record(core, e.page)) if e else 0 for e in one.ways]
            victim = self.levers.eviction.victim(number, one, degrees)
            gone = one.ways[victim]
            assert gone is not None
            if gone.pusher is not None:
                self.told.totals["pushes_unused"] += 1
                self.fill.told(gone.pusher, core, used=False)
            self.told.totals["evictions"] += 1
            self.take_private(core, gone.page, now)
            if self.levers.quota is not None and self.record(core, gone.page) and self.in_scope(core, gone.page):
                self.note_record(core, gone.page)
            self.told.log.append((now, "evict", core, gone.page, None, -1, -1))
        self.tell(core, page, now, came=True)
        self.own[core].put(Entry(page, ready, pusher))
        if page in self.recorded[core]:
            self.recorded[core].remove(page)
        if self.levers.locate == "directory" and self.levers.scope == "own_plus_affine":
            self.since[core] += 1
            if self.since[core] >= self.levers.affine_fills:
                self.since[core] = 0
                threshold = self.levers.affine_threshold
                self.affine[core] = {p for p in self.cores if p != core and self.pair(core, p) >= threshold}
        self.told.totals["fills"] += 1
        self.told.log.append(
            (now, "fill" if pusher is None else "push", core, page, None, -1 if pusher is None else pusher, -1)
        )

    def take_private(self, core: int, page: int, now: int) -> None:
        self.own[core].drop(page)
        self.tell(core, page, now, came=False)

    def invalidate(self, page: int, now: int) -> None:
        for core in sorted(self.holders(page)):
            self.take_private(core, page, now)
            self.told.totals["shot_down"] += 1
            self.told.log.append((now, "invalidate", core, page, None, -1, -1))
        self.recorded = [[known for known in pages if known != page] for pages in self.recorded]

    def put_shared(self, page: int, ready: int, now: int) -> None:
        number, one = self.behind.set_of(page)
        if not one.free:
            gone = one.ways[self.levers.shared_eviction.victim(number, one, [1] * len(one.ways))]
            assert gone is not None
            self.behind.drop(gone.page)
            self.given.pop(gone.page, None)
            if self.levers.inclusive:
                self.told.messages["shootdown"] += len(self.holders(gone.page))
                self.invalidate(gone.page, now)
        self.behind.put(Entry(page, ready, None))

    def fill_from_shared(self, core: int, page: int, ready: int, now: int) -> None:
        if self.clusters:
            cluster = self.clusters[core // self.levers.cluster[0]]
            if not cluster.find(page):
                number, one = cluster.set_of(page)
                if not one.free:
                    one.drop(cluster.eviction.victim(number, one, [1] * len(one.ways)))
                cluster.put(Entry(page, ready, None))
        held = len(self.own[core].pages())
        pairs = [self.pair(core, p) if p != core else 0 for p in self.cores]
        fills, pushes = self.fill.decide(core, self.m["private_entries"], held, self.shared_with_any(core), pairs)
        if not fills:
            self.told.totals["refused_fills"] += 1
            return
        self.put_private(core, page, ready, None, now)
        for peer in pushes:
            if not self.own[peer].find(page):
                self.told.totals["pushes"] += 1
                self.told.messages["push"] += 1
                self.put_private(peer, page, self.travel(now, core, peer, ready), core, now)

    # ways and waiting

    def travel(self, now: int, sender: int, receiver: int, at: int) -> int:
        self.told.totals["noc_trips"] += 1
        m = self.m
        for link in way_of(m["network"], m["cores"], sender, receiver):
            if m["link_cycles"]:
                start = self.links.setdefault(link, Calendar()).book(now, at, m["link_cycles"])
                self.told.totals["noc_queue_cycles"] += start - at
                at = start
            at += m["hop_cycles"]
        return at

    @staticmethod
    def through(ports: list[Calendar], now: int, at: int) -> int:
        if not ports:
            return at
        best = min(ports, key=lambda port: port.first_free(now, at, 1))
        return best.book(now, at, 1)

    def look_at(self, peer: int, page: int, now: int, at: int) -> tuple[int, bool]:
        at = self.through(self.ports[peer], now, at) + self.m["private_cycles"]
        entry = self.own[peer].find(page)
        if entry is None:
            self.told.totals["stale"] += 1
            return at, False
        if self.levers.refreshes:
            self.own[peer].use(page)
        return max(at, entry.ready), True

    def send(self, now: int, sender: int, receiver: int, at: int) -> int:
        self.told.messages["request"] += 1
        self.told.totals["remote_requests"] += 1
        self.asked[receiver] += 1
        return self.travel(now, sender, receiver, at)

    # who is asked

    def ask_near(self, core: int, page: int, now: int, at: int) -> tuple[int, int | None, bool]:
        """When, by whom, and whether to walk at once."""
        kind = self.levers.locate
        if kind == "directory":
            return self.ask_directory(core, page, now, at)
        if kind == "central_directory":
            return (*self.ask_centre(core, page, now, at), False)
        if kind == "ring_probe":
            return (*self.ask_ring(core, page, now, at), False)
        if kind == "clustered":
            cluster = self.clusters[core // self.levers.cluster[0]]
            at += self.levers.look_up_cycles
            entry = cluster.find(page)
            if entry is None:
                return at, None, False
            cluster.use(page)
            return max(at, entry.ready), core // self.levers.cluster[0], False
        return at, None, False

    def ask_directory(self, core: int, page: int, now: int, at: int) -> tuple[int, int | None, bool]:
        levers, m = self.levers, self.m
        spent = levers.look_up_cycles
        at += max(spent - m["private_cycles"], 0) if levers.parallel else spent
        if not self.has_record(core, page):
            return at, None, False
        if levers.quota is not None:
            self.note_record(core, page)
        in_shared = self.behind.find(page) is not None
        left = set(self.record(core, page))
        for _ in range(levers.tries):
            if not left:
                break
            distance = [hops_between(m["network"], m["cores"], core, p) for p in self.cores]
            peer = self.peer.choose(sorted(left), distance, self.asked)
            farther = 2 * distance[peer] * m["hop_cycles"] + m["private_cycles"] > m["shared_cycles"]
            if levers.use_l2_bit and in_shared and farther:
                return at, None, False
            at, found = self.look_at(peer, page, now, self.send(now, core, peer, at))
            self.told.messages["answer"] += 1
            at = self.travel(now, peer, core, at)
            if found:
                return at, peer, False
            left.discard(peer)
            self.unlearn(core, page, peer)
        at_once = levers.use_l2_bit and not left and m["shared_entries"] > 0 and not in_shared
        return at, None, at_once

    def ask_centre(self, core: int, page: int, now: int, at: int) -> tuple[int, int | None]:
        m, centre = self.m, self.m["cores"] // 2
        holders = self.holders(page) - {core}
        if not holders:
            return at + self.levers.look_up_cycles, None
        distance = [hops_between(m["network"], m["cores"], core, p) for p in self.cores]
        peer = self.peer.choose(sorted(holders), distance, self.asked)
        self.told.messages["request"] += 1
        self.told.messages["answer"] += 1
        at = self.travel(now, core, centre, at) + self.levers.look_up_cycles
        at, _ = self.look_at(peer, page, now, self.send(now, centre, peer, at))
        return self.travel(now, peer, core, at), peer

    def ask_ring(self, core: int, page: int, now: int, at: int) -> tuple[int, int | None]:
        here, cores = core, self.m["cores"]
        for step in range(1, min(self.levers.reach, cores - 1) + 1):
            peer = (core + step) % cores
            at, found = self.look_at(peer, page, now, self.send(now, here, peer, at))
            if found:
                self.told.messages["answer"] += 1
                return self.travel(now, peer, core, at), peer
            here = peer
        return at, None

    def ask_shared(self, core: int, page: int, name: int, now: int, at: int) -> tuple[int, str]:
        m = self.m
        if not m["shared_entries"]:
            return self.walk(core, name, now, at), WALK
        self.told.totals["shared_accesses"] += 1
        at = self.through(self.banks[page % m["shared_banks"]], now, at) + m["shared_cycles"]
        entry = self.behind.find(page)
        if entry is None:
            done = self.walk(core, name, now, at)
            self.put_shared(page, done, now)
            return done, WALK
        self.behind.use(page)
        self.told.totals["walks_joined"] += entry.ready > at
        return max(at, entry.ready), SHARED

    def walk(self, core: int, name: int, now: int, at: int) -> int:
        m, arrived = self.m, at
        if m["walk_queue"] and len(self.walk_starts) >= m["walk_queue"]:
            at = max(at, self.walk_starts[-m["walk_queue"]])
            if at > arrived:
                self.stall[core] = max(self.stall[core], at)
        walker = self.walker_free.index(min(self.walker_free))
        start = max(at, self.walker_free[walker])
        self.walk_starts.append(start)
        levels = m["walk_levels"]
        if m["walk_cache_entries"]:
            keys = {up: (name // 512**up, up) for up in range(1, m["walk_levels"])}
            levels = next((up for up in sorted(keys) if keys[up] in self.upper), m["walk_levels"])
            for up in sorted(keys, reverse=True):
                if keys[up] in self.upper:
                    self.upper.remove(keys[up])
                self.upper.append(keys[up])
                del self.upper[: max(len(self.upper) - m["walk_cache_entries"], 0)]
        self.walker_free[walker] = start + levels * m["level_cycles"]
        self.told.totals["walks"] += 1
        self.told.totals["walk_levels"] += levels
        self.told.totals["walk_queue_cycles"] += start - arrived
        self.told.by_window.append((now, "walk_queue_cycles", start - arrived))
        return self.walker_free[walker]

    # an access

    def access(self, core: int, name: int, now: int) -> int:
        page = name // self.levers.pages_an_entry
        self.deliver(now)
        at = max(now, self.stall[core])
        start = self.through(self.ports[core], now, at)
        self.told.totals["port_wait_cycles"] += start - at
        at = start + self.m["private_cycles"]
        entry = self.own[core].find(page)
        peer: int | None = None
        if entry is None:
            source, at, peer = self.miss(core, page, name, now, at)
        else:
            self.own[core].use(page)
            if entry.pusher is not None:
                self.told.totals["pushes_used"] += 1
                self.fill.told(entry.pusher, core, used=True)
                entry.pusher = None
            source = MERGED if entry.ready > at else PRIVATE
            at = max(at, entry.ready)
        self.told.served.setdefault(core, Counter())[source] += 1
        self.told.latencies[at - now] += 1
        self.told.spent[source] += at - now
        self.told.by_window.append((now, source, 1))
        self.told.last_cycle = max(self.told.last_cycle, at)
        self.told.log.append((now, "access", core, name, source, -1 if peer is None else peer, at - now))
        return at

    def miss(self, core: int, page: int, name: int, now: int, at: int) -> tuple[str, int, int | None]:
        for done, awaited in self.missing[core]:
            if done > at and awaited == page:
                return MERGED, done, None
        sent, waited = sum(self.told.messages.values()), self.told.totals["noc_queue_cycles"]
        under_way = [done for done, _ in self.missing[core] if done > at]
        if len(under_way) >= self.m["private_mshrs"]:
            self.told.totals["mshr_wait_cycles"] += min(under_way) - at
            at = min(under_way)
            self.stall[core] = max(self.stall[core], at)
        at, peer, at_once = self.ask_near(core, page, now, at)
        source = PEER
        if peer is None:
            if at_once:
                at, source = self.walk(core, name, now, at), WALK
                self.put_shared(page, at, now)
            else:
                at, source = self.ask_shared(core, page, name, now, at)
            self.fill_from_shared(core, page, at, now)
            self.learn_from_shared(core, page)
        else:
            self.keep(core, page, peer, at, now)
        self.missing[core].append((at, page))
        self.told.by_window.append((now, "messages", sum(self.told.messages.values()) - sent))
        self.told.by_window.append((now, "noc_queue_cycles", self.told.totals["noc_queue_cycles"] - waited))
        return source, at, peer

    def learns(self) -> bool:
        return self.levers.locate == "directory" and self.levers.update == "on_response"

    def keep(self, core: int, page: int, peer: int, ready: int, now: int) -> None:
        if self.learns():
            for other in sorted((self.belief[peer].get(page, set()) | {peer}) - {core}):
                self.learn(core, page, other)
        kind, threshold = self.levers.remote_fill
        pair = self.pair(core, peer) if self.levers.locate == "directory" else 0
        if copies(kind, threshold, pair):
            self.put_private(core, page, ready, None, now)
            if self.learns():
                self.learn(peer, page, core)

    def learn_from_shared(self, core: int, page: int) -> None:
        if not self.learns() or not self.m["shared_entries"]:
            return
        for other in sorted(self.given.get(page, set()) - {core}):
            self.learn(core, page, other)
        if self.own[core].find(page):
            self.given.setdefault(page, set()).add(core)

    def unmap(self, core: int, name: int, now: int) -> None:
        page, m = name // self.levers.pages_an_entry, self.m
        self.deliver(now)
        self.told.totals["shootdowns"] += 1
        exact = self.levers.locate == "central_directory" or (
            self.levers.locate == "directory" and self.levers.update == "instant"
        )
        holders = self.holders(page) if self.levers.targeted and exact else set(self.cores)
        informed = holders - {core}
        self.told.messages["shootdown"] += 2 * len(informed)
        if informed:
            farthest = max(hops_between(m["network"], m["cores"], core, p) for p in informed)
            self.stall[core] = max(now, self.stall[core]) + 2 * farthest * m["hop_cycles"] + m["private_cycles"]
        news = self.told.messages["update"]
        self.invalidate(page, now)
        self.told.messages["update"] = news
        for tlb in (*self.clusters, self.behind):
            if tlb.find(page):
                tlb.drop(page)
        self.given.pop(page, None)
        self.missing = [[(d, None if p == page else p) for d, p in one] for one in self.missing]
        for known in self.belief:
            known.pop(page, None)

    # the whole trace

    def run(self, rows: list[tuple[Any, ...]]) -> Told:
        if self.levers.warps:
            self.run_warps(rows)
        else:
            for cycle, core, page, *unmap in rows:
                self.serve(cycle, core, page, bool(unmap and unmap[0]))
        for core in self.cores:
            for page in self.own[core].pages():
                holders = self.holders(page)
                self.told.degrees[len(holders)] += 1
                for other in holders - {core}:
                    self.told.pairs[core, other] += 1
        return self.told

    def serve(self, now: int, core: int, page: int, unmap: bool) -> int:
        if not self.begun:
            self.begun, self.told.last_cycle = True, now
        if unmap:
            self.unmap(core, page, now)
            return now
        return self.access(core, page, now)

    def run_warps(self, rows: list[tuple[Any, ...]]) -> None:
        """The next row of a core goes to the warp that is free first; the earliest issue of all cores comes first."""
        waiting = {core: [row for row in rows if row[1] == core] for core in self.cores}
        free = {core: [0] * self.levers.warps for core in self.cores}
        while any(waiting.values()):
            now, core = min((max(queue[0][0], min(free[core])), core) for core, queue in waiting.items() if queue)
            _, _, page, *unmap = waiting[core].pop(0)
            gone = bool(unmap and unmap[0])
            done = self.serve(now, core, page, gone)
            free[core].remove(min(free[core]))
            free[core].append(done if gone else done + self.levers.gap)
