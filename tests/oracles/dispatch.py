"""A slow, obvious twin of the engine `dispatch`: every cycle is walked, memories are lists of bools, none is skipped.

Written from the sentences of spec 3 (section 8 and the decisions E1-E27) and of the questions; shares no code with the
workbench, whose policies it asks through their documented questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracles import dispatch_questions as ask
from tests.oracles.dispatch_module import OWN, Module, NotFree, Offer, Piece, Refused, Resource
from tests.oracles.dispatch_past import Past, rates

__all__ = ["Dispatcher", "NotFree", "Resource", "Stuck"]

WORD = 2**64


PATIENCE = 500
"""Cycles without anything running, arriving or being dispatched after which nothing ever will be."""

TRIES = 2000
"""Refusals in a row, while nothing runs or arrives, after which a placement that draws counts as refusing for ever; and
one more for every offer and module."""


class Stuck(Exception):
    """A group waits for ever."""


class Dispatcher:
    """One run. `groups` has lists of plain numbers by the names of the workload's columns, `demand` a list a resource.

    `options` are those of the engine; `seed` gives each part of the run its own seed by name.
    """

    def __init__(
        self,
        modules: int,
        units: int,
        resources: list[Resource],
        groups: dict[str, Any],
        policies: dict[str, Any],
        options: dict[str, Any],
        seed: Callable[[str], int],
    ):
        self.resources, self.policies, self.options = resources, policies, options
        self.channels = max(groups["channel"], default=0) + 1
        self.levels = max(groups["priority"], default=1)
        per_wave = options["blocks_on_a_unit"] == "per_wave"
        for policy in dict.fromkeys(policies[slot] for slot in ("placement", "shared_placement")):
            groups = {**groups, "duration": [int(policy.lasting(cycles)) for cycles in groups["duration"]]}
        self.groups = groups
        self.modules = [Module(resources, units, policies, per_wave) for _ in range(modules)]
        self.remember(seed)
        self.queues: list[list[Offer]] = [[] for _ in range(self.channels)]
        for group, channel in enumerate(groups["channel"]):
            self.queues[channel].append(self.whole(group))
        self.now = 0
        self.fails = options["fail_init"]
        self.forgotten: list[tuple[int, tuple[int, int]]] = []
        self.running: list[dict[str, Any]] = []
        self.dispatches: list[dict[str, Any]] = []
        self.tries = self.last_try = 0
        self.rounds = self.head_rounds = self.over_promised = self.refused_by_fragmentation = 0
        self.refused = [0] * len(groups["channel"])
        self.failures: list[int] = []
        self.splits: list[list[int]] = []

    def remember(self, seed: Callable[[str], int]) -> None:
        """The memories of the policies at the start of the run."""
        policies, modules = self.policies, len(self.modules)
        self.selection_memory = policies["selection"].start_memory(self.channels, self.levels, seed("selection"))
        terms = policies["choice"].bound([resource.name for resource in self.resources]).terms()
        self.terms = [
            (term, weight, term.start_memory(modules, seed(f"choice/{k}"))) for k, (term, weight) in enumerate(terms)
        ]
        for number, module in enumerate(self.modules):
            module.pointer = policies["units"].first_pointer(number, seed("units"))
            for (unit, r), blocks in module.maps.items():
                copy = number if unit == OWN else number * module.units + unit
                own_seed = seed(f"placement/{self.resources[r].name}/{copy if module.policy((unit, r)).draws else 0}")
                module.memories[unit, r] = module.policy((unit, r)).start_memory(len(blocks), own_seed)
        periods = [term.halving_cycles() for term, _, _ in self.terms if term.halving_cycles()]
        self.pasts = [Past(halved={period: [0] * 6 for period in periods}) for _ in self.modules]
        self.warmth = self.options["warmth"]
        self.tie_word = max(seed("module_tie"), 1)
        self.last_module = -1

    def whole(self, group: int) -> Offer:
        need = []
        for r, resource in enumerate(self.resources):
            usual = {"waves": 1, "workgroups": 1, "barriers": int(self.groups["waves"][group] > 1)}.get(resource.name)
            need.append(self.groups["demand"][r][group] if usual is None else usual)
        g = self.groups
        return Offer(group, g["waves"][group], g["priority"][group], bool(g["independent"][group]), need)

    # One cycle -------------------------------------------------------------------------------------------------------

    def walk(self) -> None:
        round_cycles = self.round_cycles()
        while any(self.queues) or self.running:
            self.give_back()
            self.renew_reports()
            if self.warmth and self.now and self.now % self.warmth.step_cycles == 0:
                self.warmth.step(self.pasts)
            if self.now % round_cycles == 0 and any(map(self.waiting, range(self.channels))):
                self.round()
            for number, past in enumerate(self.pasts):
                past.executed(self.now, [life["rates"] for life in self.running if life["module"] == number])
            self.now += 1
            if self.now > max(self.last_change(), self.last_try) + PATIENCE or self.tries > self.most_tries():
                raise Stuck(f"{sum(map(len, self.queues))} groups wait at cycle {self.now}")

    def count_try(self, refused: bool) -> None:
        """Refusals in a row while nothing runs and nothing will arrive that could be put forward."""
        offers = 1 + self.policies["stuck"].look_ahead()
        coming = any(len(self.put_up(k)) < min(offers, len(self.queues[k])) for k in range(self.channels))
        self.tries = 0 if self.running or coming else self.tries + refused
        self.last_try = self.now if refused else self.last_try

    def most_tries(self) -> int:
        return TRIES + self.channels * (1 + self.policies["stuck"].look_ahead()) * len(self.modules)

    def last_change(self) -> int:
        """The last cycle in which something arrives or ends, as far as is known now."""
        return max([*self.groups["arrival"], *(dispatch["end"] for dispatch in self.dispatches)])

    def round_cycles(self) -> int:
        """A round takes as long as the reports that it waits for."""
        return int(self.options["round_cycles"] * self.policies["probe"].round_cycles(self.probed_blocks()))

    def give_back(self) -> None:
        """1. Everything due now, in the order of dispatch."""
        for life in [life for life in self.running if life["end"] == self.now]:
            module = self.modules[life["module"]]
            for piece in life["pieces"]:
                module.give(piece)
            module.taken = [t - s for t, s in zip(module.taken, life["sent"], strict=True)]
            module.changed()
            self.running.remove(life)

    def renew_reports(self) -> None:
        """2. Without a schedule a report is what the probe says now; with one each resource has its period."""
        for module in self.modules:
            for key in module.maps:
                if self.is_probed_now(key):
                    module.renew(key)

    def probed_blocks(self) -> list[int]:
        return [resource.blocks for resource in self.resources if resource.of_unit and resource.contiguous]

    def schedule(self) -> Any:
        return self.policies["probe"].schedule(self.probed_blocks()) if self.probed_blocks() else None

    def is_probed_now(self, key: tuple[int, int]) -> bool:
        schedule = self.schedule()
        if schedule is None or key[0] == OWN:
            return True
        of_units = [r for r, resource in enumerate(self.resources) if resource.of_unit and resource.contiguous]
        period = (self.now // schedule.cycles_a_period) % schedule.periods
        return schedule.period[of_units.index(key[1])] == period

    # One round -------------------------------------------------------------------------------------------------------

    def waiting(self, channel: int) -> list[Offer]:
        return [offer for offer in self.queues[channel] if self.groups["arrival"][offer.group] <= self.now]

    def round(self) -> None:
        heads = [self.waiting(channel)[0] for channel in range(self.channels) if self.waiting(channel)]
        self.open_again()
        self.rounds += 1
        self.head_rounds += len(heads)
        for head in heads:
            fits_nowhere = not any(module.fits(head) for module in self.modules)
            self.refused[head.group] += fits_nowhere
            self.refused_by_fragmentation += fits_nowhere and any(m.enough_in_total(head) for m in self.modules)
        made, before = 0, self.over_promised
        while made < self.options["dispatches_a_round"] and self.attempt():
            made += 1
        self.count_try(self.over_promised > before and not made)
        if made:
            return
        self.failures.append(self.now)
        self.fails = min(self.fails + 1, self.policies["stuck"].patience() + 1)
        if self.fails > self.policies["stuck"].patience():
            self.split_heads()

    def open_again(self) -> None:
        """Where nothing fits, modules whose placements have moved on since they refused may be asked again."""
        offers = [offer for channel in range(self.channels) for offer in self.put_up(channel)]
        if not any(module.fits(offer) for offer in offers for module in self.modules):
            for module in self.modules:
                if module.moved:
                    module.changed()

    def attempt(self) -> bool:
        """4.-10. One dispatch, or none."""
        offers = [self.put_forward(channel) for channel in range(self.channels) if self.waiting(channel)]
        entries = [self.entry(offer) for offer in offers]
        if not any(entry["fits"] for entry in entries):
            return False
        at = ask.position(self.policies["selection"], self.now, entries, self.selection_memory)
        if at == -1:
            return False
        assert entries[at]["fits"], f"the selection chose entry {at}, which fits nowhere"
        offer = offers[at]
        number = self.choose([k for k, module in enumerate(self.modules) if module.fits(offer)], offer)
        return self.dispatch(offer, number)

    def put_forward(self, channel: int) -> Offer:
        """The first of the offers of a channel that fits some module, else its head."""
        offers = self.put_up(channel)
        fitting = [offer for offer in offers if any(module.fits(offer) for module in self.modules)]
        return (fitting or offers)[0]

    def put_up(self, channel: int) -> list[Offer]:
        return self.waiting(channel)[: 1 + self.policies["stuck"].look_ahead()]

    def entry(self, offer: Offer) -> dict[str, int]:
        waited = self.now - self.groups["arrival"][offer.group]
        return {
            "channel": self.groups["channel"][offer.group],
            "priority": self.label(offer.level),
            "rank": ask.rank(self.policies["priority"], self.now, offer.level, self.levels, waited),
            "fits": int(any(module.fits(offer) for module in self.modules)),
            "waited": waited,
            "waves": offer.waves,
        }

    def label(self, level: int) -> int:
        """E3: under no priority all groups have one label, but sub-groups below all."""
        return 1 if self.policies["priority"].name == "no_priority" and level <= self.levels else level

    def dispatch(self, offer: Offer, number: int) -> bool:
        module = self.modules[number]
        sent, pointer = module.counts(offer)
        remembered = {key: list(memory) for key, memory in module.memories.items()}
        try:
            pieces = module.take(offer)
        except Refused:
            self.over_promised += 1
            module.refused.append(offer)
            module.moved |= any(list(module.memories[key]) != before for key, before in remembered.items())
            return False
        self.report_after(module, pieces)
        module.pointer = pointer
        module.taken = [t + s for t, s in zip(module.taken, sent, strict=True)]
        module.changed()
        for term, _, memory in self.terms:
            ask.tell_chosen(term, number, len(self.modules), memory)
        self.last_module = number
        self.book(offer, number, sent, pieces)
        self.queues[self.groups["channel"][offer.group]].remove(offer)
        self.fails = 0
        return True

    def report_after(self, module: Module, pieces: list[Piece]) -> None:
        """Of maps that were taken from: what the probe says now, or without a look at it 0 where reports forget."""
        schedule = self.schedule()
        for key in {(piece.unit, piece.resource) for piece in pieces}:
            if key in module.maps and (schedule is None or key[0] == OWN):
                module.renew(key)
            elif key in module.maps and schedule.forget:
                module.forget(key)

    def book(self, offer: Offer, number: int, sent: list[int], pieces: list[Piece]) -> None:
        g = self.groups
        duration = g["duration"][offer.group]
        each = rates(g["instructions"][offer.group], offer.waves, g["waves"][offer.group], duration)
        life = {"module": number, "sent": sent, "pieces": pieces, "end": self.now + duration, "rates": each}
        self.running.append(life)
        self.dispatches.append({**life, "offer": offer, "cycle": self.now})

    # Which module ----------------------------------------------------------------------------------------------------

    def choose(self, candidates: list[int], offer: Offer) -> int:
        """8. One score as it is; several normalised over the candidates, weighted and summed; the highest is taken."""
        sums = [0.0] * len(candidates)
        for term, weight, memory in self.terms:
            given = ask.scores(term, self.now, self.seen(candidates, offer, term), memory)
            if len(self.terms) > 1:
                least, most = min(given), max(given)
                given = [weight * ((s - least) / (most - least) if most > least else 0.0) for s in given]
            sums = [total + s for total, s in zip(sums, given, strict=True)] if len(self.terms) > 1 else given
        best = [module for module, s in zip(candidates, sums, strict=True) if s == max(sums)]
        return self.one_of(best)

    def seen(self, candidates: list[int], offer: Offer, term: Any) -> dict[str, list]:
        every = range(len(self.resources))
        size = [r.blocks * (self.modules[0].units if r.of_unit else 1) for r in self.resources]
        waits = [0.0] * (getattr(term, "classes", 6) - 6)  # whoever runs here never waits
        whole = [n * (offer.waves if r.of_unit else 1) for n, r in zip(offer.need, self.resources, strict=True)]
        return {
            "modules": candidates,
            "demand": whole,
            "free": [[module.free_of(r) for r in every] for module in self.modules],
            "longest": [[module.longest_of(r) for r in every] for module in self.modules],
            "totals": size,
            "recent": [past.recent(term.history_cycles(), term.halving_cycles()) + waits for past in self.pasts],
            "heat": self.warmth.heat if self.warmth else [0.0] * len(self.modules),
        }

    def one_of(self, equals: list[int]) -> int:
        if self.options["module_tie"] == "random":
            return equals[self.below(len(equals))]
        if self.options["module_tie"] == "rotating":
            return next((module for module in equals if module > self.last_module), equals[0])
        return equals[0]

    def below(self, count: int) -> int:
        """As many bits of the next word of Marsaglia's xorshift as `count` - 1 has, until they are below it."""
        if count == 1:
            return 0
        while True:
            self.tie_word ^= self.tie_word << 13 & WORD - 1
            self.tie_word ^= self.tie_word >> 7
            self.tie_word ^= self.tie_word << 17 & WORD - 1
            drawn = self.tie_word >> 64 - (count - 1).bit_length()
            if drawn < count:
                return drawn

    # Stuck groups ----------------------------------------------------------------------------------------------------

    def split_heads(self) -> None:
        """12. The stuck policy is asked about each waiting head; its parts stand in its place."""
        stuck = self.policies["stuck"]
        for channel in range(self.channels):
            if not self.waiting(channel):
                continue
            head = self.waiting(channel)[0]
            into = ask.parts(stuck, head.waves, head.independent, head.level, self.levels)
            if into >= 2:
                self.splits.append([self.now, head.group, into])
                self.queues[channel] = self.parts_of(head, into) + self.queues[channel][1:]
                self.fails = 0

    def parts_of(self, offer: Offer, into: int) -> list[Offer]:
        stuck = self.policies["stuck"]
        level = {"inherit": offer.level, "lowest": self.levels, "below_all": self.levels + 1}[stuck.sub_priority()]
        shares = [offer.waves // into + (part < offer.waves % into) for part in range(into)]
        return [self.part(offer, waves, level, stuck.divides_shared()) for waves in shares]

    def part(self, offer: Offer, waves: int, level: int, shared_out: bool) -> Offer:
        need, of_waves = list(self.whole(offer.group).need), self.groups["waves"][offer.group]
        for r, resource in enumerate(self.resources):
            if resource.barriers:
                need[r] = int(waves > 1)
            elif shared_out and not resource.of_unit:
                need[r] = -(-need[r] * waves // of_waves)
        return Offer(offer.group, waves, level, offer.independent, need, shared_out)

    # What is left of it ----------------------------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        """The fields of `DispatchRecord` as plain lists; failed rounds by their cycles."""
        g, each = self.groups, self.dispatches
        names = ("arrival", "channel", "priority", "waves", "duration", "instructions")
        return {
            "modules": len(self.modules),
            "units": self.modules[0].units,
            "levels": self.levels,
            "channels": self.channels,
            "resources": [r.name for r in self.resources],
            "of_unit": [r.of_unit for r in self.resources],
            "contiguous": [r.contiguous for r in self.resources],
            "blocks": [r.blocks for r in self.resources],
            **{name: list(g[name]) for name in names},
            "demand": [self.whole(group).need for group in range(len(g["arrival"]))],
            "group": [d["offer"].group for d in each],
            "cycle": [d["cycle"] for d in each],
            "module": [d["module"] for d in each],
            "sent": [d["sent"] for d in each],
            "level": [d["offer"].level for d in each],
            "shared_out": [d["offer"].shared_out for d in each],
            "refused": self.refused,
            "round_cycles": self.round_cycles(),
            "history_cycles": max(term.history_cycles() for term, _, _ in self.terms),
            "rounds": self.rounds,
            "failed_rounds": len(self.failures),
            "head_rounds": self.head_rounds,
            "over_promised": self.over_promised,
            "refused_by_fragmentation": self.refused_by_fragmentation,
            "placement_searches": sum(module.searches for module in self.modules),
            "pieces": sum(module.pieces for module in self.modules),
            "splits": self.splits,
            "takes": [[k, p.unit, p.resource, p.start, p.amount] for k, d in enumerate(each) for p in d["pieces"]],
            "failures": self.failures,
        }
