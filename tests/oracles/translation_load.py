"""Translation in Python as plain as can be, by events: everything occurs in the state of its own cycle.

It shares no code with the engine and knows no cycle from which something "can be used": a heap holds closures, and
what is under way is nowhere but in a closure (spec 4, "Time under load", T1-T13).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.oracles.translation_load_clock import ANSWERS, ISSUES, NEWS, REQUESTS, Clock, Slots
from tests.oracles.translation_load_dead import DeadEntries, NeverDead
from tests.oracles.translation_load_directory import Directories
from tests.oracles.translation_load_eviction import Protection, Tlb, base_rule
from tests.oracles.translation_load_middle import MiddleLevel
from tests.oracles.translation_load_network import Network
from tests.oracles.translation_load_rules import FillRule, PeerRule, RemoteFillRule
from tests.oracles.translation_load_tags import Tags
from tests.oracles.translation_load_walks import Asked, Eras, Request, SharedTlb, Walkers, WalkRules
from workbench.policies.translation.locate import CENTRAL, CLUSTER, DIRECTORY, ON_RESPONSE, RING

PRIVATE, MERGED, PEER, SHARED, WALK, MIDDLE = range(6)
ACCESS, FILL, PUSH, EVICT, INVALIDATE = range(5)
SERVED = {"private": PRIVATE, "merged": MERGED, "peer": PEER, "shared": SHARED, "walk": WALK, "middle": MIDDLE}
COUNTED = (
    "fills",
    "evictions",
    "refused_fills",
    "pushes",
    "pushes_used",
    "pushes_unused",
    "remote_requests",
    "stale",
    "port_wait_cycles",
    "mshr_wait_cycles",
    "mshr_stalls",
    "last_start",
    "shootdowns",
    "shot_down",
    "samples",
)


def in_steps(length: int) -> int:
    """Return a latency as it is counted: exact below 65,536, above in 1,024 steps an octave."""
    step = 1 << max(length.bit_length() - 11, 0) if length >= 1 << 16 else 1
    return length // step * step


class Row(NamedTuple):
    """A row of the trace."""

    cycle: int
    core: int
    page: int
    unmap: bool = False


class Choices(NamedTuple):
    """What is chosen besides the machine and the policies."""

    warps: int = 0
    """0 = open loop."""
    gap: int = 0
    tags: Tags = Tags(65536)
    """What an entry covers."""
    walks: WalkRules = WalkRules()
    dead: Any = None
    """The levers of `dead_entries`; None = every entry is made."""
    inclusive: bool = False
    broadcast: bool = False
    free_news: bool = False
    sample_accesses: int = 8192


class Core:
    """A core: its TLB, its registers, and what it has not issued yet."""

    def __init__(self, number: int, tlb: Tlb, ports: Slots) -> None:
        self.number, self.tlb, self.ports = number, tlb, ports
        self.trace: deque[int] = deque()
        self.started: deque[tuple[int, int]] = deque()
        self.stopped = False
        self.idle_warps: deque[int] = deque()
        self.registers = 0
        self.awaited: dict[Asked, Request] = {}
        self.waiting: Request | None = None
        self.acknowledgements = 0
        self.cluster: Tlb | None = None


class Load:
    """One run of the machine on a trace."""

    def __init__(
        self,
        machine: Any,
        rows: Sequence[Row],
        policies: dict[str, Any],
        choices: Choices,
        seed: Callable[[str], int] = lambda name: 1,
    ) -> None:
        self.machine, self.rows, self.choices = machine, rows, choices
        self.plan = policies["locate"].plan(machine.private_entries)
        self.clock = Clock()
        self.over_time: Counter[tuple[int, str]] = Counter()
        self.network = Network(self.clock, machine, self.over_time)
        self.directories = Directories(self.clock, self.network, self.plan, machine.cores, choices.free_news)
        shared_base = base_rule(policies["shared_eviction"], seed("shared_eviction"))
        self.tags = choices.tags
        dead = DeadEntries(choices.dead) if choices.dead else NeverDead()
        self.shared = SharedTlb(self.clock, machine, shared_base, self._shared_evicted, dead)
        self.middle = MiddleLevel(self.clock, machine)
        self.eras = Eras()
        self.walkers = Walkers(
            self.clock, machine, choices.walks, self.shared, self.tags.saves, self._answer, self.eras
        )
        self.peer_rule = PeerRule(policies["peer"], self.network, seed("peer"))
        self.fill_rule = FillRule(policies["fill"], self.directories, machine.private_entries)
        self.remote_rule = RemoteFillRule(policies["remote_fill"], self.directories)
        self.cores = self._new_cores(policies["eviction"], seed("eviction"))
        self.counted: Counter[str] = Counter()
        places = len(SERVED) if self.middle else len(SERVED) - 1
        self.served = [[0] * places for _ in range(machine.cores)]
        self.latencies: Counter[int] = Counter()
        self.latency_sums = [0] * places
        self.log: list[tuple[int, ...]] = []
        self.booked, self.last_cycle = 0, 0
        self.degrees = [0] * (machine.cores + 1)
        self.pairs = [[0] * machine.cores for _ in range(machine.cores)]
        self.pages_held: list[int] = []
        self.first_cycle: int | None = None

    def _new_cores(self, eviction: Any, start: int) -> list[Core]:
        machine = self.machine
        base_policy = getattr(eviction, "base", eviction)
        base, protection = base_rule(base_policy, start), Protection(eviction)
        ways = machine.private_ways or machine.private_entries
        sets = machine.private_entries // ways
        cores = [
            Core(
                number,
                Tlb(machine.private_entries, ways, base, protection, number * sets),
                Slots(self.clock, machine.private_ports),
            )
            for number in range(machine.cores)
        ]
        if self.plan.kind == CLUSTER:
            self._join_clusters(cores)
        return cores

    def _join_clusters(self, cores: list[Core]) -> None:
        from workbench.policies.translation.eviction import LRU

        for first in range(0, len(cores), self.plan.cluster_cores):
            cluster = Tlb(self.plan.cluster_entries, self.plan.cluster_ways, base_rule(LRU(), 1), None)
            for core in cores[first : first + self.plan.cluster_cores]:
                core.cluster = cluster

    # Issue (T2, T3)

    def run(self) -> Load:
        """Run the trace to its end."""
        for at, row in enumerate(self.rows):
            self.cores[row.core].trace.append(at)
        for core in self.cores:
            core.idle_warps.extend([0] * self.choices.warps)
            self._deal(core)
        self.clock.run()
        self._sample()
        return self

    def _deal(self, core: Core) -> None:
        """Start rows of a core's trace while there are warps for them; an unmapping gives its warp back at once."""
        while core.trace:
            at = core.trace[0]
            row, free = self.rows[at], 0
            if self.choices.warps:
                if not core.idle_warps:
                    return
                free = core.idle_warps[0] if row.unmap else core.idle_warps.popleft()
            core.trace.popleft()
            start = max(row.cycle, free)
            when = max(start, self.clock.now)
            self.clock.at(when, ISSUES, (core.number, 0, at), lambda at=at, start=start: self._start(core, at, start))

    def _start(self, core: Core, at: int, start: int) -> None:
        if self.first_cycle is None:
            self.first_cycle = self.last_cycle = start
        core.started.append((at, start))
        if len(core.started) == 1 and not core.stopped:
            self._issue_next(core)

    def _go_on(self, core: Core) -> None:
        """Let a core issue its next started row in an event of its own."""
        core.stopped = False
        if core.started:
            self.clock.at(
                self.clock.now, ISSUES, (core.number, 0, core.started[0][0]), lambda: self._issue_if_free(core)
            )

    def _issue_if_free(self, core: Core) -> None:
        if core.started and not core.stopped:
            self._issue_next(core)

    def _issue_next(self, core: Core) -> None:
        at, start = core.started.popleft()
        row = self.rows[at]
        core.stopped = True
        if row.unmap:
            self._unmap(core, at, self.tags.of(row.page))
            return
        self.counted["last_start"] = max(self.counted["last_start"], start)
        request = Request(core.number, self.tags.of(row.page), at, start, row.page)
        granted = core.ports.take()
        self.counted["port_wait_cycles"] += granted - self.clock.now
        if granted == self.clock.now:
            self._look(core, request)
        else:
            self.clock.at(granted, ISSUES, (core.number, 0, at), lambda: self._look(core, request))

    def _look(self, core: Core, request: Request) -> None:
        now = self.clock.now
        request.known_at, request.asked = now + self.machine.private_cycles, self.eras.now(request.tag)
        if request.tag in core.tlb:
            self._own_hit(core, request, request.known_at)
        elif request.asked in core.awaited:
            core.awaited[request.asked].joiners.append(request)
        elif core.registers < self.machine.private_mshrs:
            self._take_register(core, request, request.known_at)
        else:
            core.waiting = request
            self.counted["mshr_stalls"] += 1
            return
        self._go_on(core)

    def _look_again(self, core: Core) -> None:
        request = core.waiting
        assert request is not None and request.asked not in core.awaited
        core.waiting = None
        goes_on = max(self.clock.now, request.known_at)
        self.counted["mshr_wait_cycles"] += goes_on - request.known_at
        if request.tag in core.tlb:
            self._own_hit(core, request, goes_on)
        else:
            self._take_register(core, request, goes_on)
        self._go_on(core)

    def _own_hit(self, core: Core, request: Request, answered: int) -> None:
        core.tlb.use(request.tag)
        pusher = core.tlb.pusher.pop(request.tag, -1)
        if pusher >= 0:
            self.counted["pushes_used"] += 1
            self.fill_rule.told(pusher, core.number, True)
        self._book(request, PRIVATE, answered)
        self._sample_if_due()

    def _take_register(self, core: Core, request: Request, goes_on: int) -> None:
        core.registers += 1
        core.awaited[request.asked] = request
        if self.plan.kind == DIRECTORY:
            self._look_up_directory(request, goes_on)
            return
        step = {CENTRAL: self._ask_centre, RING: self._probe_next, CLUSTER: self._look_in_cluster}
        action = step.get(self.plan.kind, self._ask_shared)
        self.clock.at(goes_on, REQUESTS, request.key, lambda: action(request))

    # Answers (T7-T9)

    def _answer(self, request: Request, served: str, cycle: int, helper: int = -1) -> None:
        self.clock.at(cycle, ANSWERS, request.key, lambda: self._answered(request, SERVED[served], helper))

    def _answered(self, request: Request, served: int, helper: int) -> None:
        core, now = self.cores[request.core], self.clock.now
        core.registers -= 1
        del core.awaited[request.asked]
        self._book(request, served, now, helper)
        for joiner in request.joiners:
            self._book(joiner, MERGED, max(now, joiner.known_at))
        if not self.eras.is_over(request.asked):
            self._fill(core, request, served, helper)
        if core.waiting and core.registers == self.machine.private_mshrs - 1:
            self.clock.at(now, ISSUES, (core.number, 0, core.waiting.row), lambda: self._look_again(core))
        self._sample_if_due()

    def _book(self, request: Request, served: int, answered: int, helper: int = -1) -> None:
        latency = answered - request.started
        self.served[request.core][served] += 1
        self.latencies[latency] += 1
        self.latency_sums[served] += latency
        self.last_cycle = max(self.last_cycle, answered)
        self.over_time[request.started, tuple(SERVED)[served]] += 1
        self.log.append((request.started, ACCESS, request.core, request.trace_page, served, helper, latency))
        self.booked += 1
        if self.choices.warps:
            core = self.cores[request.core]
            free = answered + self.choices.gap
            self.clock.at(free, ISSUES, (core.number, -1, request.row), lambda: self._free_warp(core))

    def _free_warp(self, core: Core) -> None:
        core.idle_warps.append(self.clock.now)
        self._deal(core)

    def _fill(self, core: Core, request: Request, served: int, helper: int) -> None:
        if served == PEER:
            self._learn(core, request.tag, request.teaches)
            keeps = self.remote_rule.keeps(core.number, helper)
            if keeps:
                self._enter(core, request.tag, request.row)
            if keeps and self._learns:
                self.directories.learn(helper, request.tag, core.number)
            return
        if core.cluster is not None:
            self._fill_cluster(core.cluster, request.tag)
        if served != MIDDLE:
            self.middle.keep(core.number, request.tag)
        self._fill_by_rule(core, request)
        if served == MIDDLE:
            return
        given = self.shared.given.get(self.shared.block(request.tag), set())
        self._learn(core, request.tag, given)
        if request.tag in core.tlb:
            given.add(core.number)

    def _fill_by_rule(self, core: Core, request: Request) -> None:
        copies = self.fill_rule.copies(core.number)
        if copies is None:
            self.counted["refused_fills"] += 1
        else:
            self._enter(core, request.tag, request.row)
            self._send_copies(core, request, copies)

    @property
    def _learns(self) -> bool:
        return self.plan.kind == DIRECTORY and self.plan.update == ON_RESPONSE

    def _learn(self, core: Core, tag: int, holders: set[int]) -> None:
        for peer in sorted(holders) if self._learns else []:
            self.directories.learn(core.number, tag, peer)

    def _fill_cluster(self, cluster: Tlb, tag: int) -> None:
        if tag in cluster:
            return
        victim = cluster.victim(tag, lambda _: 1)
        if victim is not None:
            cluster.drop(victim)
        cluster.enter(tag)

    def _enter(self, core: Core, tag: int, row: int, pusher: int = -1) -> None:
        """Make an entry of a private TLB, once."""
        if tag in core.tlb:
            return
        number = core.number
        victim = core.tlb.victim(tag, lambda held: self.directories.degree(number, held))
        if victim is not None:
            self._evict(core, victim, row)
        core.tlb.enter(tag)
        self.counted["fills"] += 1
        self.log.append((self.clock.now, PUSH if pusher >= 0 else FILL, number, self.tags.first[tag], -1, pusher, -1))
        if pusher >= 0:
            core.tlb.pusher[tag] = pusher
            self.counted["pushes"] += 1
        self.directories.made(number, tag, row)

    def _evict(self, core: Core, victim: int, row: int) -> None:
        pusher = core.tlb.drop(victim)
        self.counted["evictions"] += 1
        self.log.append((self.clock.now, EVICT, core.number, self.tags.first[victim], -1, -1, -1))
        if pusher >= 0:
            self.counted["pushes_unused"] += 1
            self.fill_rule.told(pusher, core.number, False)
        self.directories.gone(core.number, victim, row)

    def _send_copies(self, core: Core, request: Request, peers: list[int]) -> None:
        tag, row = request.tag, request.row
        for peer in peers:
            if peer in self.directories.truth.of(tag):
                continue
            self.network.send(
                "push",
                ANSWERS,
                (peer, tag, row),
                core.number,
                peer,
                self.clock.now,
                lambda peer=peer: self._copy_arrives(request, peer),
            )

    def _copy_arrives(self, request: Request, peer: int) -> None:
        """Enter a copy of what a request was answered, unless that was unmapped since."""
        if not self.eras.is_over(request.asked):
            self._enter(self.cores[peer], request.tag, request.row, pusher=request.core)

    # Directories and peers (T4)

    def _look_up_directory(self, request: Request, goes_on: int) -> None:
        read_at = self.clock.now if self.plan.parallel else goes_on
        departs = max(goes_on, read_at + self.plan.look_up_cycles)

        def read() -> None:
            named = self.directories.read(request.core, request.tag)
            request.named = named or set()
            request.in_shared = named is None or self.shared.has(request.tag)
            request.tries = self.plan.tries
            self.clock.at(departs, REQUESTS, request.key, lambda: self._ask_peer(request))

        self.clock.at(read_at, REQUESTS, request.key, read)

    def _ask_peer(self, request: Request) -> None:
        if not request.named or not request.tries:
            has_bit = self.plan.use_l2_bit and self.machine.shared_entries
            at_once = has_bit and not request.named and not request.in_shared
            (self.walkers.arrive if at_once else self._ask_shared)(request)
            return
        peer = self.peer_rule.choose(request.core, request.named)
        way = 2 * self.network.hops(request.core, peer) * self.machine.hop_cycles + self.machine.private_cycles
        way_to_shared = self.machine.shared_cycles + (self.machine.middle_cycles if self.middle else 0)
        if self.plan.use_l2_bit and request.in_shared and way > way_to_shared:
            self._ask_shared(request)
        else:
            self._send_request(request, request.core, peer)

    def _send_request(self, request: Request, sender: int, peer: int) -> None:
        request.peer = peer
        self.peer_rule.load[peer] += 1
        self.counted["remote_requests"] += 1
        self.network.send(
            "request", REQUESTS, request.key, sender, peer, self.clock.now, lambda: self._at_peer(request)
        )

    def _at_peer(self, request: Request) -> None:
        granted = self.cores[request.peer].ports.take()
        self.clock.at(granted, REQUESTS, request.key, lambda: self._peer_looks(request))

    def _peer_looks(self, request: Request) -> None:
        peer = self.cores[request.peer]
        leaves = self.clock.now + self.machine.private_cycles
        if request.tag not in peer.tlb:
            self.counted["stale"] += 1
            self._refuse(request, leaves)
            return
        if self.plan.refreshes_peer:
            peer.tlb.use(request.tag)
        request.teaches = self.directories.known(peer.number, request.tag) | {peer.number}
        self.network.send(
            "answer",
            ANSWERS,
            request.key,
            peer.number,
            request.core,
            leaves,
            lambda: self._answered(request, PEER, peer.number),
        )

    def _refuse(self, request: Request, leaves: int) -> None:
        if self.plan.kind == RING:
            self.clock.at(leaves, REQUESTS, request.key, lambda: self._probe_next(request))
            return
        self.network.send(
            "answer", ANSWERS, request.key, request.peer, request.core, leaves, lambda: self._refused(request)
        )

    def _refused(self, request: Request) -> None:
        then = self._ask_shared
        if self.plan.kind == DIRECTORY:
            self.directories.refused(request.core, request.tag, request.peer)
            request.named = request.named - {request.peer}
            request.tries -= 1
            then = self._ask_peer
        self.clock.at(self.clock.now, REQUESTS, request.key, lambda: then(request))

    def _probe_next(self, request: Request) -> None:
        reach = min(self.plan.reach, self.machine.cores - 1)
        if request.tries == reach:
            self._ask_shared(request)
            return
        request.tries += 1
        sender = request.core if request.peer < 0 else request.peer
        self._send_request(request, sender, (request.core + request.tries) % self.machine.cores)

    def _ask_centre(self, request: Request) -> None:
        centre = self.directories.centre
        self.network.send(
            "request", REQUESTS, request.key, request.core, centre, self.clock.now, lambda: self._centre_reads(request)
        )

    def _centre_reads(self, request: Request) -> None:
        holders = self.directories.truth.of(request.tag) - {request.core}
        departs = self.clock.now + self.plan.look_up_cycles
        self.clock.at(departs, REQUESTS, request.key, lambda: self._centre_sends(request, holders))

    def _centre_sends(self, request: Request, holders: set[int]) -> None:
        if holders:
            peer = self.peer_rule.choose(request.core, holders)
            self._send_request(request, self.directories.centre, peer)
        else:
            self._ask_shared(request)

    def _look_in_cluster(self, request: Request) -> None:
        cluster = self.cores[request.core].cluster
        assert cluster is not None
        known = self.clock.now + self.plan.look_up_cycles
        if request.tag in cluster:
            cluster.use(request.tag)
            self._answer(request, "peer", known, request.core // self.plan.cluster_cores)
        else:
            self.clock.at(known, REQUESTS, request.key, lambda: self._ask_shared(request))

    def _ask_shared(self, request: Request) -> None:
        """Go behind the cores: to the group's TLB, else to the shared one, else to the walkers (M1)."""
        if self.middle:
            granted = self.middle.take_port(request.core)
            self.clock.at(granted, REQUESTS, request.key, lambda: self._look_in_middle(request))
        else:
            self._go_behind(request)

    def _look_in_middle(self, request: Request) -> None:
        known = self.clock.now + self.machine.middle_cycles
        if self.middle.look(request.core, request.tag):
            self._answer(request, "middle", known)
        else:
            self.clock.at(known, REQUESTS, request.key, lambda: self._go_behind(request))

    def _go_behind(self, request: Request) -> None:
        if self.machine.shared_entries:
            self.shared.arrive(request, self._answer, self.walkers)
        else:
            self.walkers.arrive(request)

    # What leaves at once (T12, E13, E15)

    def _unmap(self, core: Core, row: int, tag: int) -> None:
        self.counted["shootdowns"] += 1
        targets = self._told(core, tag)
        self._end_era(tag)
        self._invalidate(core, tag)
        self.directories.shot_down(core.number, tag)
        self.directories.drop_records(tag)
        core.acknowledgements = len(targets)
        for target in targets:
            self._shoot(core, target, tag, row)
        if not targets:
            self._go_on(core)

    def _told(self, core: Core, tag: int) -> list[int]:
        everybody = set(range(self.machine.cores))
        named = self.directories.always_right and not self.choices.broadcast
        return sorted((self.directories.truth.of(tag) if named else everybody) - {core.number})

    def _end_era(self, tag: int) -> None:
        """Let what is under way of a tag be of an era that is over, and drop what no core owns."""
        self.eras.end(tag)
        for core in self.cores:
            if core.cluster is not None and tag in core.cluster:
                core.cluster.drop(tag)
        self.middle.drop(tag)
        self.shared.drop(tag)

    def _shoot(self, core: Core, target: int, tag: int, row: int) -> None:
        def arrive() -> None:
            self._invalidate(self.cores[target], tag)
            self.directories.shot_down(target, tag)
            leaves = self.clock.now + self.machine.private_cycles
            key = (target, tag, row)
            self.network.send("shootdown", NEWS, key, target, core.number, leaves, lambda: self._acknowledge(core))

        self.network.send("shootdown", NEWS, (core.number, tag, row), core.number, target, self.clock.now, arrive)

    def _acknowledge(self, core: Core) -> None:
        core.acknowledgements -= 1
        if not core.acknowledgements:
            self._go_on(core)

    def _invalidate(self, core: Core, tag: int) -> bool:
        if tag not in core.tlb:
            return False
        core.tlb.drop(tag)
        self.counted["shot_down"] += 1
        self.log.append((self.clock.now, INVALIDATE, core.number, self.tags.first[tag], -1, -1, -1))
        return True

    def _shared_evicted(self, tag: int, row: int) -> None:
        """An inclusive shared TLB tells the holders of what it loses, from the core in the middle."""
        if not self.choices.inclusive:
            return
        self.middle.drop(tag)
        self.directories.drop_records(tag)
        centre = self.directories.centre
        for holder in sorted(self.directories.truth.of(tag)):
            if holder == centre:
                self.network.count("shootdown")
            self.network.send(
                "shootdown",
                NEWS,
                (centre, tag, row),
                centre,
                holder,
                self.clock.now,
                lambda holder=holder: self._leaves_too(self.cores[holder], tag, row),
            )

    def _leaves_too(self, core: Core, tag: int, row: int) -> None:
        if self._invalidate(core, tag):
            self.directories.gone(core.number, tag, row, evicted=False)

    # Samples and the record

    def _sample_if_due(self) -> None:
        while self.booked >= (self.counted["samples"] + 1) * self.choices.sample_accesses:
            self._sample()

    def _sample(self) -> None:
        self.counted["samples"] += 1
        tags = {tag for core in self.cores for tag in core.tlb.ways}
        self.pages_held.append(len(tags))
        for tag in tags:
            holders = [core.number for core in self.cores if tag in core.tlb]
            self.degrees[len(holders)] += len(holders)
            for one in holders:
                for other in holders:
                    self.pairs[one][other] += one != other

    def record(self) -> dict[str, Any]:
        """Return everything that the engine's record counts; what is by window of time is by cycle."""
        kinds = ("request", "answer", "push", "update", "shootdown")
        steps: Counter[int] = Counter()
        for length, count in self.latencies.items():
            steps[in_steps(length)] += count
        return {
            "first_cycle": self.first_cycle or 0,
            "last_cycle": self.last_cycle,
            "served": self.served,
            "latency_cycles": sorted(steps),
            "latency_counts": [steps[length] for length in sorted(steps)],
            "latency_sums": self.latency_sums,
            "shared_accesses": self.shared.accesses,
            "middle_accesses": self.middle.accesses if self.middle else None,
            "walks": self.walkers.walks,
            "walk_levels": self.walkers.levels,
            "walk_cycles": self.walkers.busy_cycles,
            "walk_queue_cycles": self.walkers.queue_cycles,
            "walk_queue_latency": self.walkers.waited,
            "walks_joined": self.walkers.joined,
            "bypassed_entries": self.shared.dead.not_made,
            "messages": [self.network.messages[kind] for kind in kinds],
            "noc_queue_cycles": self.network.queue_cycles,
            "noc_trips": self.network.trips,
            "degrees": self.degrees,
            "pairs": self.pairs,
            "log": sorted(self.log),
            **{name: self.counted[name] for name in COUNTED},
        }

    def by_cycle(self) -> Counter[tuple[int, str]]:
        """Return what is counted over time, by cycle and name."""
        waits = {(cycle, "walk_queue_cycles"): waited for cycle, waited in self.walkers.queued_at.items()}
        return self.over_time + Counter(waits)
