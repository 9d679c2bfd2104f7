"""One module of the slow twin: its units' and its own blocks as lists of bools, its counters, its reports, its past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.oracles import dispatch_questions as ask

OWN = -1
"""In the place of a unit: the module's own."""


@dataclass
class Resource:
    name: str
    of_unit: bool
    contiguous: bool
    blocks: int

    @property
    def barriers(self) -> bool:
        """Whether what has one wave takes none of it."""
        return self.name == "barriers"


@dataclass(eq=False)
class Offer:
    """What waits in a channel: a group, or a part of one that was split."""

    group: int
    waves: int
    level: int
    independent: bool
    need: list[int]
    """A wave's blocks of each resource of units, the offer's blocks of each resource of modules."""
    shared_out: bool = False


@dataclass
class Piece:
    """A range that was given (`start` -1: an amount of a countable resource)."""

    unit: int
    resource: int
    start: int
    amount: int


class Refused(Exception):
    """A placement said that what a report promised does not fit."""


class NotFree(Exception):
    """A placement answered a range that is not free."""


def runs(blocks: list[int]) -> list[tuple[int, int]]:
    """Maximal ranges of increasing blocks, as (first, how many)."""
    result: list[tuple[int, int]] = []
    for block in blocks:
        if result and sum(result[-1]) == block:
            result[-1] = (result[-1][0], result[-1][1] + 1)
        else:
            result.append((block, 1))
    return result


class Module:
    """Everything of one module, kept under (unit, resource)."""

    def __init__(self, resources: list[Resource], units: int, policies: dict[str, Any], per_wave: bool):
        self.resources, self.units, self.policies, self.per_wave = resources, units, policies, per_wave
        self.keys = [(u, r) for u in range(units) for r, kind in enumerate(resources) if kind.of_unit]
        self.keys += [(OWN, r) for r, kind in enumerate(resources) if not kind.of_unit]
        self.maps = {key: [True] * resources[key[1]].blocks for key in self.keys if resources[key[1]].contiguous}
        self.amounts = {key: resources[key[1]].blocks for key in self.keys if not resources[key[1]].contiguous}
        self.looked_at: dict[tuple[int, int], list[bool]] = {}
        self.reports = {key: self.probed(key) for key in self.maps}
        self.memories: dict[tuple[int, int], Any] = {}
        self.pointer = 0
        self.taken = [0] * units
        self.refused: list[Offer] = []
        self.moved = False
        self.searches = self.pieces = 0

    def policy(self, key: tuple[int, int]) -> Any:
        return self.policies["shared_placement" if self.resources[key[1]].name == "shared" else "placement"]

    def probed(self, key: tuple[int, int]) -> int:
        if self.policy(key).layout == "scattered":
            return self.maps[key].count(True)
        return ask.longest_run(self.probe(key), self.maps[key])

    def probe(self, key: tuple[int, int]) -> Any:
        """The contiguous resources of a unit share a probe, which may name another for each; a module has its own."""
        shared = [r for r, kind in enumerate(self.resources) if kind.of_unit and kind.contiguous]
        if key[0] == OWN:
            return self.policies["probe"].of_module()
        return self.policies["probe"].serving([self.resources[r].blocks for r in shared])[shared.index(key[1])]

    def renew(self, key: tuple[int, int]) -> None:
        """The report is what the probe says now; one that differs changes the module."""
        if self.maps[key] == self.looked_at.get(key):
            return  # a probe says the same of the same map
        self.looked_at[key] = list(self.maps[key])
        now = self.probed(key)
        if now != self.reports[key]:
            self.reports[key] = now
            self.changed()

    def changed(self) -> None:
        """What was refused may be asked for again."""
        self.refused, self.moved = [], False

    def forget(self, key: tuple[int, int]) -> None:
        """Until it is renewed, the report promises nothing."""
        self.reports[key] = 0
        self.looked_at.pop(key, None)

    # What fits -------------------------------------------------------------------------------------------------------

    def counts(self, offer: Offer) -> tuple[list[int], int]:
        return ask.counts(self.policies["units"], offer.waves, self.pointer, self.taken)

    def grants(self, offer: Offer) -> list[tuple[tuple[int, int], list[int]]]:
        """What an offer takes of everything, unit by unit and then of the module: the length of each single grant."""
        wanted = []
        shared_out, _ = self.counts(offer)
        for key in self.keys:
            unit, resource = key
            waves = 1 if unit == OWN else shared_out[unit]
            need = offer.need[resource]
            if waves == 0 or need == 0:
                continue
            alone = self.per_wave and self.resources[resource].contiguous
            lengths = [need] * waves if alone else [need * waves]
            if key in self.maps:
                lengths = [int(self.policy(key).footprint(length, len(self.maps[key]))) for length in lengths]
            wanted.append((key, lengths))
        return wanted

    def fits(self, offer: Offer) -> bool:
        """By the reports; a pair that was refused at allocation waits for a change."""
        if any(offer is refused for refused in self.refused):
            return False
        for key, lengths in self.grants(offer):
            if key in self.amounts and self.amounts[key] < sum(lengths):
                return False
            if key in self.maps and self.reports[key] < max(lengths):
                return False
        return True

    def enough_in_total(self, offer: Offer) -> bool:
        """Whether the module's free blocks, all units together, are as many as the offer needs of every resource."""
        kinds = enumerate(self.resources)
        return all(self.free_of(r) >= offer.need[r] * (offer.waves if kind.of_unit else 1) for r, kind in kinds)

    # Taking and giving back ------------------------------------------------------------------------------------------

    def take(self, offer: Offer) -> list[Piece]:
        """All or nothing: ranges are asked for first, amounts are booked when all of them were given.

        At a refusal what was given goes back in the order in which it was given.
        """
        pieces: list[Piece] = []
        wanted = self.grants(offer)
        try:
            for key, lengths in wanted:
                if key in self.maps:
                    for length in lengths:
                        pieces += self.taken_range(key, length)
        except Refused:
            for piece in pieces:
                self.give(piece)
            raise
        for key, lengths in wanted:
            if key in self.amounts:
                self.amounts[key] -= sum(lengths)
                pieces.append(Piece(*key, -1, sum(lengths)))
        return self.in_order(pieces)

    def in_order(self, pieces: list[Piece]) -> list[Piece]:
        """Unit by unit, then the module's own; scattered blocks as ranges, whichever grant they came with."""
        ordered: list[Piece] = []
        for key in self.keys:
            mine = [piece for piece in pieces if (piece.unit, piece.resource) == key]
            if key in self.maps and self.policy(key).layout == "scattered":
                blocks = [piece.start + k for piece in mine for k in range(piece.amount)]
                mine = [Piece(*key, first, amount) for first, amount in runs(sorted(blocks))]
            ordered += mine
        return ordered

    def taken_range(self, key: tuple[int, int], length: int) -> list[Piece]:
        policy, blocks, memory = self.policy(key), self.maps[key], self.memories[key]
        self.searches += 1
        first = ask.start(policy, blocks, length, memory)
        if first == -1:
            raise Refused
        if policy.layout == "scattered":
            got = [block for block, is_free in enumerate(blocks) if is_free][:length]
        else:
            got = list(range(first, first + length))
        if first < 0 or len(got) < length or got[-1] >= len(blocks) or not all(blocks[block] for block in got):
            raise NotFree(f"{policy.name} at {key}: {first}")
        for block in got:
            blocks[block] = False
        pieces = [Piece(*key, first, amount) for first, amount in runs(got)]
        self.pieces += len(pieces)
        for piece in pieces:
            ask.tell(policy, "granted", blocks, piece.start, piece.amount, memory)
        return pieces

    def give(self, piece: Piece) -> None:
        key = (piece.unit, piece.resource)
        if key in self.amounts:
            self.amounts[key] += piece.amount
            return
        for block in range(piece.start, piece.start + piece.amount):
            assert not self.maps[key][block]
            self.maps[key][block] = True
        ask.tell(self.policy(key), "released", self.maps[key], piece.start, piece.amount, self.memories[key])

    # What choices look at --------------------------------------------------------------------------------------------

    def free_of(self, resource: int) -> int:
        mine = [key for key in self.keys if key[1] == resource]
        return sum(self.maps[key].count(True) if key in self.maps else self.amounts[key] for key in mine)

    def longest_of(self, resource: int) -> int:
        mine = [key for key in self.keys if key[1] == resource]
        return min(self.reports[key] if key in self.maps else self.amounts[key] for key in mine)
